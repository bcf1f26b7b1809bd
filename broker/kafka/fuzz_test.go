package kafka

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/record"
)

// FuzzRequest: whatever follows the frame, a request is answered with an answer
// that decodes by the request's schema or ends its connection, and the topic that
// nobody may change keeps its records.
func FuzzRequest(f *testing.F) {
	for key, a := range apis() {
		for _, version := range []int16{a.min, a.max} {
			req := kmsg.RequestForKey(key)
			req.SetVersion(version)
			f.Add(frame(req, 1)[4:])
		}
	}
	for _, req := range []kmsg.Request{produceRequest("kept", 1, batchOf(f, record.LZ4, "x")), fetchRequest("kept", 0, 0), metadataRequest("kept", "../x")} {
		req.SetVersion(9)
		f.Add(frame(req, 1)[4:])
	}
	b, err := broker.Open(f.TempDir(), broker.Options{Config: map[string]string{"auto.create.topics.enable": "false",
		"delete.topic.enable": "false", "log.segment.delete.delay.ms": "0", "offsets.topic.num.partitions": "1"}})
	require.NoError(f, err)
	f.Cleanup(func() { _ = b.Close() })
	_, err = b.CreateTopic(context.Background(), broker.TopicSpec{Name: "kept"})
	require.NoError(f, err)
	_, err = b.OffsetsTopic(context.Background())
	require.NoError(f, err)
	s, err := newServer(&net.UnixAddr{Name: "fuzz"}, b)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, request []byte) {
		if len(request) == 0 || harmful(request) {
			return
		}
		near, far := net.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		c := newConn(s, far)
		defer context.AfterFunc(ctx, c.stop)() // as the end of Serve does
		done := make(chan struct{})
		go func() { defer close(done); c.serve(ctx) }()
		_ = near.SetDeadline(time.Now().Add(10 * time.Second)) // it may be closed already
		go func() { _, _ = near.Write(append(kbin.AppendInt32(nil, int32(len(request))), request...)) }()
		if body, err := readAnswer(near); err == nil {
			decodes(t, request, body)
		}
		require.NoError(t, near.Close())
		<-done
		_, err := b.Topic("kept")
		require.NoError(t, err)
	})
}

// harmful requests do what they are for: they make topics without end.
func harmful(request []byte) bool {
	r := kbin.Reader{Src: request}
	key := r.Int16()
	return key == 19 || key == 37
}

// decodes holds an answer to the schema of its request.
func decodes(t *testing.T, request, body []byte) {
	r := kbin.Reader{Src: request}
	key, version := r.Int16(), r.Int16()
	req := kmsg.RequestForKey(key)
	require.NotNil(t, req)
	resp := req.ResponseKind()
	resp.SetVersion(version)
	if key == apiVersions && (version < 0 || version > 5) {
		resp.SetVersion(0)
	}
	a := kbin.Reader{Src: body}
	require.Equal(t, r.Int32(), a.Int32(), "the correlation id")
	if resp.IsFlexible() && key != apiVersions {
		require.Zero(t, a.Uvarint())
	}
	require.NoError(t, resp.ReadFrom(a.Src))
	require.Equal(t, a.Src, resp.AppendTo(nil), "encoded again it is the same")
}
