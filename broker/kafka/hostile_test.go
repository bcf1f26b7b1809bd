package kafka

import (
	"bytes"
	"context"
	"io"
	"math"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/record"
)

func metadataRequest(topics ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = true
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	return req
}

// alive: the broker serves others all the same.
func alive(t *testing.T, s *served) {
	t.Helper()
	resp := ask[*kmsg.ApiVersionsResponse](dial(t, s.addr), kmsg.NewPtrApiVersionsRequest(), 0)
	require.NotEmpty(t, resp.ApiKeys)
}

// TestGarbage: what is no request ends its connection, and nothing else.
func TestGarbage(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	size := func(n int32, rest ...byte) []byte { return append(kbin.AppendInt32(nil, n), rest...) }
	asked := func(key, version int16, body ...byte) []byte {
		b := kbin.AppendInt16(kbin.AppendInt16(nil, key), version)
		b = kbin.AppendNullableString(kbin.AppendInt32(b, 1), nil)
		b = append(b, body...)
		return append(kbin.AppendInt32(nil, int32(len(b))), b...)
	}
	for what, raw := range map[string][]byte{
		"size 0":                       size(0),
		"size -1":                      size(-1, 0, 18),
		"size 2^31-1":                  size(math.MaxInt32, 0, 18),
		"one more than is taken":       size(100<<20+1, 0, 18),
		"half a header":                size(3, 0, 18, 0),
		"a client id longer than all":  size(12, 0, 18, 0, 0, 0, 0, 0, 1, 0x7f, 0xff, 'a', 'b'),
		"a key that is not served":     asked(9999, 0),
		"a negative key":               asked(-1, 0),
		"a version too high":           asked(3, 99),
		"a version too low":            asked(1, 3),
		"produce v2":                   asked(0, 2),
		"no body":                      asked(3, 4),
		"2^31-1 topics":                asked(3, 4, 0x7f, 0xff, 0xff, 0xff, 0),
		"tags without end":             asked(3, 9, 0xff, 0xff, 0xff, 0xff, 0x0f),
		"a tag longer than the header": asked(3, 9, 1, 9, 0xff, 0xff, 0xff, 0xff, 0x07),
		"HTTP":                         []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"TLS":                          {0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03},
	} {
		w := dial(t, s.addr)
		_, err := w.nc.Write(raw)
		require.NoError(t, err)
		w.closed(what)
	}
	alive(t, s)

	// What came before is answered, what comes after is not.
	w := dial(t, s.addr)
	good := kmsg.NewPtrApiVersionsRequest()
	w.send(good, 0)
	_, err := w.nc.Write(asked(9999, 0))
	require.NoError(t, err)
	w.receive(good, 1)
	w.closed("behind a good one")

	// A version of ApiVersions that is not served is the one thing answered.
	w = dial(t, s.addr)
	_, err = w.nc.Write(asked(18, 99))
	require.NoError(t, err)
	body, err := readAnswer(w.nc)
	require.NoError(t, err)
	resp := kmsg.NewPtrApiVersionsResponse()
	require.NoError(t, resp.ReadFrom(body[4:]))
	assert.Equal(t, kerr.UnsupportedVersion.Code, resp.ErrorCode)
	require.Len(t, resp.ApiKeys, 1)
	assert.EqualValues(t, 5, resp.ApiKeys[0].MaxVersion)
}

// TestPaths: a topic's name does not lead out of the directory.
func TestPaths(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	w := dial(t, s.addr)
	for _, name := range []string{"../x", "..", "a/b", "/tmp/x", "a\x00b", "a\\b", strings.Repeat("x", 250), ""} {
		resp := ask[*kmsg.MetadataResponse](w, metadataRequest(name), 9)
		assert.Equal(t, kerr.InvalidTopicException.Code, resp.Topics[0].ErrorCode, "%q", name)
		p := produceRequest(name, 0, batchOf(t, record.None, "x"))
		got := ask[*kmsg.ProduceResponse](w, p, 9)
		assert.Equal(t, kerr.UnknownTopicOrPartition.Code, got.Topics[0].Partitions[0].ErrorCode, "%q", name)
	}
	assert.Empty(t, s.b.Topics())
}

func produceRequest(topic string, partition int32, raw []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 1000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, raw
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func batchOf(t testing.TB, codec record.Codec, values ...string) []byte {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{Codec: codec, LeaderEpoch: -1, MaxBytes: 1 << 30})
	for _, v := range values {
		require.NoError(t, b.Add(&record.Record{Time: time.Now(), Value: []byte(v)}))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	return bytes.Clone(raw)
}

// heap is what is in use now.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// TestClaims: connections that announce much and send little cost little.
func TestClaims(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	before := heap()
	for range 200 {
		w := dial(t, s.addr)
		_, err := w.nc.Write(append(kbin.AppendInt32(nil, 100<<20), make([]byte, 2000)...))
		require.NoError(t, err)
	}
	alive(t, s)
	assert.Less(t, heap(), before+32<<20, "200 claims of 100 MiB")
}

// TestElements: an array of very many elements is not believed because its bytes
// are there.
func TestElements(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	w := dial(t, s.addr)
	body := append(kbin.AppendInt32(nil, 60<<20), make([]byte, 80<<20)...)
	head := kbin.AppendNullableString(kbin.AppendInt32(kbin.AppendInt16(kbin.AppendInt16(nil, 3), 4), 1), nil)
	before := heap()
	_, err := w.nc.Write(append(kbin.AppendInt32(nil, int32(len(head)+len(body))), head...))
	require.NoError(t, err)
	_, _ = w.nc.Write(body) // the broker may have had enough
	_, _ = io.Copy(io.Discard, w.nc)
	alive(t, s)
	assert.Less(t, heap(), before+64<<20)
}

// TestBudget: requests in memory are bounded all together; who finds no room
// waits, and is served when there is some.
func TestBudget(t *testing.T) {
	s := serve(t, t.TempDir(), "", map[string]string{"queued.max.request.bytes": "2097152", "message.max.bytes": "10000000"})
	_, err := s.b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t"})
	require.NoError(t, err)
	raw := batchOf(t, record.None, strings.Repeat("x", 1_500_000))
	holder := dial(t, s.addr)
	req := produceRequest("t", 0, raw)
	req.SetVersion(9)
	whole := frame(req, 1)
	_, err = holder.nc.Write(whole[:len(whole)-1])
	require.NoError(t, err)

	room := s.server.memory.all
	require.Eventually(t, func() bool { // it has more than half of the room
		if room.TryAcquire(1 << 20) {
			room.Release(1 << 20)
			return false
		}
		return true
	}, 20*time.Second, time.Millisecond)

	w := dial(t, s.addr)
	w.send(produceRequest("t", 0, raw), 9)
	alive(t, s) // small ones need no room
	require.NoError(t, w.nc.SetReadDeadline(time.Now().Add(200*time.Millisecond)))
	_, err = w.nc.Read(make([]byte, 1))
	require.Error(t, err, "there is no room for it")
	_, err = holder.nc.Write(whole[len(whole)-1:])
	require.NoError(t, err)
	holder.receive(req, 1)
	require.NoError(t, w.nc.SetReadDeadline(time.Now().Add(30*time.Second)))
	resp := w.receive(req, 1).(*kmsg.ProduceResponse)
	assert.Zero(t, resp.Topics[0].Partitions[0].ErrorCode)
}

// TestBomb: a small batch that inflates to gigabytes is refused before the memory
// is spent.
func TestBomb(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	_, err := s.b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t"})
	require.NoError(t, err)
	zeros := string(make([]byte, 256<<20))
	for _, codec := range []record.Codec{record.Zstd, record.Gzip} {
		raw := batchOf(t, codec, zeros)
		require.Less(t, len(raw), 1<<20)
		before := heap()
		resp := ask[*kmsg.ProduceResponse](dial(t, s.addr), produceRequest("t", 0, raw), 9)
		assert.Equal(t, kerr.MessageTooLarge.Code, resp.Topics[0].Partitions[0].ErrorCode, codec)
		assert.Less(t, heap(), before+100<<20)
	}
	alive(t, s)
}

// TestHalfOpen: a client that goes away while its fetch waits is noticed.
func TestHalfOpen(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	_, err := s.b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t"})
	require.NoError(t, err)
	before := runtime.NumGoroutine() // a connection that waits has two
	for range 50 {
		w := dial(t, s.addr)
		w.send(fetchRequest("t", 0, math.MaxInt32), 12)
		require.NoError(t, w.nc.Close())
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() < before+25 }, 20*time.Second, 5*time.Millisecond)
}

func fetchRequest(topic string, offset int64, wait int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = wait, 1, 10<<20, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = topic
	p := kmsg.NewFetchRequestTopicPartition()
	p.FetchOffset, p.PartitionMaxBytes = offset, 1<<20
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

// TestIdle: a connection without a request is closed, one whose fetch waits, too.
func TestIdle(t *testing.T) {
	s := serve(t, t.TempDir(), "", map[string]string{"connections.max.idle.ms": "100"})
	_, err := s.b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t"})
	require.NoError(t, err)
	w := dial(t, s.addr)
	w.closed("idle")
	w = dial(t, s.addr)
	w.send(fetchRequest("t", 0, math.MaxInt32), 12)
	_, err = io.Copy(io.Discard, w.nc) // an answer or none
	require.NoError(t, err)
}

// TestMaxConnections: one too many is closed, and there is room again after.
func TestMaxConnections(t *testing.T) {
	s := serve(t, t.TempDir(), "", map[string]string{"max.connections": "2"})
	one, two := dial(t, s.addr), dial(t, s.addr)
	ask[*kmsg.ApiVersionsResponse](one, kmsg.NewPtrApiVersionsRequest(), 0)
	ask[*kmsg.ApiVersionsResponse](two, kmsg.NewPtrApiVersionsRequest(), 0)
	dial(t, s.addr).closed("the third")
	require.NoError(t, one.nc.Close())
	require.Eventually(t, func() bool {
		nc, err := net.Dial("tcp", s.addr)
		if err != nil {
			return false
		}
		defer nc.Close()
		req := kmsg.NewPtrApiVersionsRequest()
		if _, err := nc.Write(frame(req, 1)); err != nil {
			return false
		}
		_, err = readAnswer(nc)
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
}

// TestShutdown: a fetch that waits is answered when the broker ends.
func TestShutdown(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	_, err := s.b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t"})
	require.NoError(t, err)
	w := dial(t, s.addr)
	req := fetchRequest("t", 0, math.MaxInt32)
	w.send(req, 12)
	time.Sleep(50 * time.Millisecond) // it may be answered before it waits, too
	began := time.Now()
	s.stop()
	resp := w.receive(req, 1).(*kmsg.FetchResponse)
	assert.Zero(t, resp.Topics[0].Partitions[0].ErrorCode)
	w.closed("after the end")
	assert.Less(t, time.Since(began), patience)
}

// TestPipe: the protocol needs no network.
func TestPipe(t *testing.T) {
	b, err := broker.Open(t.TempDir(), broker.Options{})
	require.NoError(t, err)
	defer b.Close()
	l := &pipes{c: make(chan net.Conn), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, b) }()
	near, far := net.Pipe()
	l.c <- far
	w := &wire{t: t, nc: near}
	ask[*kmsg.MetadataResponse](w, metadataRequest("t"), 9)
	ask[*kmsg.ProduceResponse](w, produceRequest("t", 0, batchOf(t, record.None, "hello")), 9)
	resp := ask[*kmsg.FetchResponse](w, fetchRequest("t", 0, 0), 12)
	assert.Contains(t, string(resp.Topics[0].Partitions[0].RecordBatches), "hello")
	cancel()
	require.NoError(t, <-done)
}

// pipes is a listener of pipes.
type pipes struct {
	c    chan net.Conn
	done chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.c:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }
