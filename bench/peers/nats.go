package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	stream  = "LOG"
	subject = "log"
	wait    = 30 * time.Second
)

// embedded is a NATS server in this process, with a connection that needs no
// network.
type embedded struct {
	server *server.Server
	conn   *nats.Conn
	js     jetstream.JetStream
}

func startNATS(dir string, durable bool) (*embedded, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s, err := server.NewServer(&server.Options{
		DontListen: true, NoLog: true, NoSigs: true, JetStream: true, StoreDir: dir, SyncAlways: durable,
		JetStreamMaxStore: 64 << 30, JetStreamMaxMemory: 1 << 30, MaxPayload: 8 << 20,
	})
	if err != nil {
		return nil, err
	}
	s.Start()
	e := &embedded{server: s}
	if !s.ReadyForConnections(wait) {
		return nil, errors.Join(errors.New("the server is not ready"), e.Close())
	}
	if e.conn, err = nats.Connect("", nats.InProcessServer(s)); err == nil {
		e.js, err = jetstream.New(e.conn, jetstream.WithPublishAsyncMaxPending(4096))
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *embedded) Close() error {
	if e.conn != nil {
		e.conn.Close()
	}
	e.server.Shutdown()
	e.server.WaitForShutdown()
	return nil
}

// jetStreamLog publishes to a stream. A batch is published asynchronously and
// waited for as a whole, which is not atomic.
type jetStreamLog struct {
	*embedded

	stream jetstream.Stream
}

func openJetStream(dir string, s Setting) (Log, error) {
	e, err := startNATS(dir, s.Durable)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	o := jetstream.StreamConfig{Name: stream, Subjects: []string{subject}, Storage: jetstream.FileStorage}
	if s.Compressed {
		o.Compression = jetstream.S2Compression
	}
	made, err := e.js.CreateOrUpdateStream(ctx, o)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &jetStreamLog{embedded: e, stream: made}, nil
}

func (l *jetStreamLog) Appender(values [][]byte) func() error {
	return func() error {
		if len(values) == 1 {
			ctx, cancel := context.WithTimeout(context.Background(), wait)
			defer cancel()
			_, err := l.js.Publish(ctx, subject, values[0])
			return err
		}
		pending := make([]jetstream.PubAckFuture, len(values))
		for i, value := range values {
			var err error
			if pending[i], err = l.js.PublishAsync(subject, value); err != nil {
				return err
			}
		}
		for _, p := range pending {
			select {
			case <-p.Ok():
			case err := <-p.Err():
				return err
			}
		}
		return nil
	}
}

func (l *jetStreamLog) Scan(each func([]byte)) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return err
	}
	c, err := l.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	messages, err := c.Messages(jetstream.PullMaxMessages(4096))
	if err != nil {
		return err
	}
	defer messages.Stop()
	for range info.State.Msgs {
		m, err := messages.Next(jetstream.NextMaxWait(wait))
		if err != nil {
			return err
		}
		each(m.Data())
	}
	return nil
}

func (l *jetStreamLog) Get(i int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	m, err := l.stream.GetMsg(ctx, uint64(i+1))
	if err != nil {
		return nil, err
	}
	return m.Data, nil
}

func (l *jetStreamLog) Tail(ctx context.Context, ready chan<- struct{}, each func([]byte)) error {
	c, err := l.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	messages, err := c.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	close(ready)
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		each(m.Data())
	}
}

// natsStore is the file store of a JetStream stream, with nothing of the server
// between it and the caller. No public call makes one; one does return one: that
// which restores a stream, which is given the backup of an empty stream here. So
// one that is there already cannot be opened.
type natsStore struct {
	*embedded
	server.StreamStore

	mu   sync.Mutex // of AppendAt
	last uint64
}

func openNATSStore(dir string, s Setting, async bool) (Log, error) {
	e, err := startNATS(dir, s.Durable)
	if err != nil {
		return nil, err
	}
	l := &natsStore{embedded: e}
	if l.StreamStore, err = l.restore(dir, s, async); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return l, nil
}

func (l *natsStore) Close() error { return l.embedded.Close() }

func (l *natsStore) Appender(values [][]byte) func() error {
	return func() error {
		for _, value := range values { // it has no batches
			if _, _, err := l.StoreMsg(subject, nil, value, 0); err != nil {
				return err
			}
		}
		return nil
	}
}

func (l *natsStore) Scan(each func([]byte)) error {
	var m server.StoreMsg
	for next, last := uint64(1), l.State().LastSeq; next <= last; next++ {
		_, seq, err := l.LoadNextMsg("", false, next, &m)
		if err != nil {
			return err
		}
		each(message(&m))
		next = seq
	}
	return nil
}

func (l *natsStore) Get(i int64) ([]byte, error) {
	m, err := l.LoadMsg(uint64(i+1), nil)
	if err != nil {
		return nil, err
	}
	return message(m), nil
}

// message is the message in m, which has no way to it that is public.
func message(m *server.StoreMsg) []byte { return reflect.ValueOf(m).Elem().Field(messageField).Bytes() }

var messageField = func() int {
	field, ok := reflect.TypeFor[server.StoreMsg]().FieldByName("msg")
	if !ok {
		panic("server.StoreMsg has no field msg any more")
	}
	return field.Index[0]
}()

func (l *natsStore) AppendAt(t time.Time, value []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++ // nothing else is appended to a log of given times
	return l.StoreRawMsg(subject, nil, value, l.last, t.UnixNano(), 0, false)
}

func (l *natsStore) At(t time.Time) (int64, error) {
	return int64(l.GetSeqFromTime(t)) - 1, nil
}

// restored is what RestoreStreamV2 returns.
type restored interface{ Store() server.StreamStore }

func (l *natsStore) restore(dir string, s Setting, async bool) (server.StreamStore, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	o := server.StreamConfig{Name: stream, Subjects: []string{subject}, Storage: server.FileStorage, Retention: server.LimitsPolicy,
		MaxMsgs: -1, MaxBytes: -1, MaxConsumers: -1, MaxMsgSize: -1, MaxMsgsPer: -1, Replicas: 1}
	if s.Compressed {
		o.Compression = server.S2Compression
	}
	if async {
		o.PersistMode = server.AsyncPersistMode
	}
	config, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if err := l.ask(ctx, fmt.Sprintf(server.JSApiStreamCreateT, stream), config); err != nil {
		return nil, err
	}
	backup, err := l.backup(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.js.DeleteStream(ctx, stream); err != nil {
		return nil, err
	}
	made, err := l.server.GlobalAccount().RestoreStreamV2(&o, bytes.NewReader(backup))
	if err != nil {
		return nil, err
	}
	return restored(made).Store(), nil
}

// ask makes a request of JetStream's API and looks at its answer.
func (l *natsStore) ask(ctx context.Context, api string, request []byte) error {
	answer, err := l.conn.RequestWithContext(ctx, api, request)
	if err != nil {
		return err
	}
	var said struct {
		Error *server.ApiError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &said); err != nil {
		return err
	}
	if said.Error != nil {
		return said.Error
	}
	return nil
}

func (l *natsStore) backup(ctx context.Context) ([]byte, error) {
	inbox := nats.NewInbox()
	chunks, err := l.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = chunks.Unsubscribe() }()
	request, err := json.Marshal(server.JSApiStreamSnapshotRequest{DeliverSubject: inbox, NoConsumers: true})
	if err != nil {
		return nil, err
	}
	if err := l.ask(ctx, fmt.Sprintf(server.JSApiStreamSnapshotT, stream), request); err != nil {
		return nil, err
	}
	var backup []byte
	for {
		chunk, err := chunks.NextMsgWithContext(ctx)
		if err != nil {
			return nil, err
		}
		if len(chunk.Data) == 0 {
			return backup, nil
		}
		backup = append(backup, chunk.Data...)
		if chunk.Reply != "" {
			if err := chunk.Respond(nil); err != nil {
				return nil, err
			}
		}
	}
}
