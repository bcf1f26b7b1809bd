package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// Broker serves the topics of one directory. See the package comment for its
// concurrency.
type Broker struct {
	dir    string
	fsys   vfs.FS
	logger *slog.Logger
	logs   *log.Manager
	meta   *log.Meta
	base   log.Options // what topics' configurations are put upon

	config    atomic.Pointer[config]
	producers producerIDs
	groups    groups
	listeners listeners
	running   context.Context // ends with Close
	stop      context.CancelFunc
	upkeep    sync.WaitGroup

	// change is held by who changes topics or configurations.
	change struct {
		sync.Mutex
		state  *state
		closed bool
	}

	mu struct {
		sync.RWMutex
		byName    map[string]*Topic
		byID      map[TopicID]*Topic
		canonical map[string]string // names with . for _, which must not collide
	}
}

// Open opens the broker of a directory, which is created if need be. A directory
// in use is log.ErrLocked.
func Open(dir string, o Options) (*Broker, error) {
	static, unknown, err := parseAll(brokerKeys, o.Config)
	if err != nil {
		return nil, err
	}
	b := &Broker{dir: dir, fsys: o.Env.FS, logger: o.Logger}
	if b.fsys == nil {
		b.fsys = vfs.OS
	}
	if b.logger == nil {
		b.logger = slog.New(slog.DiscardHandler)
	}
	for _, name := range unknown {
		b.logger.Warn("broker: a key of the configuration is not known, and left out", "key", name)
	}
	b.base = log.Options{Logger: b.logger, Trace: o.Trace, Env: o.Env}
	if err := b.open(static); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Broker) open(static map[string]string) (err error) {
	// Looked at before it is locked, only not to open logs by a file that cannot
	// be read: what counts is read again, see optionsOf.
	if _, err := readState(b.fsys, b.dir); err != nil {
		return err
	}
	var read sync.Once
	var state *state
	var unreadable error
	load := func() {
		if state, unreadable = readState(b.fsys, b.dir); unreadable == nil {
			b.config.Store(&config{broker: state.Broker, cluster: state.Cluster, static: static})
		}
	}
	base := b.base
	base.DeleteDelay = millis((&config{static: static}).int("log.segment.delete.delay.ms"))
	b.logs, err = log.OpenManager(context.Background(), b.dir, log.ManagerOptions{Log: base,
		Each: func(name string, o log.Options) log.Options {
			if read.Do(load); state == nil {
				return o
			}
			return b.optionsOf(state, name, o)
		}})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.logs.Close())
		}
	}()
	if read.Do(load); unreadable != nil {
		return unreadable
	}
	b.change.state = state
	if b.meta, err = b.identity(); err != nil {
		return err
	}
	if err := b.settle(); err != nil {
		return err
	}
	if err := b.findTopics(); err != nil {
		return err
	}
	b.producers.b = b
	b.running, b.stop = context.WithCancel(context.Background())
	b.upkeep.Go(func() { b.maintain(b.running) })
	b.upkeep.Go(func() { b.flush(b.running) })
	if t, err := b.Topic(ConsumerOffsets); err == nil {
		b.coordinate(t)
	}
	return nil
}

// optionsOf are the settings of a partition's log by its topic's configuration.
func (b *Broker) optionsOf(s *state, name string, o log.Options) log.Options {
	parsed, ok := kafkadir.ParseName(name)
	if !ok {
		return o
	}
	var own map[string]string
	if t := s.Topics[parsed.Topic]; t != nil {
		own = t.Configs
	} else {
		own = foreign(parsed.Topic)
	}
	return b.config.Load().topic(own, o).log
}

// Close makes everything durable, notes that all logs were closed cleanly and
// gives the directory up. Who waits is told that there will be no more. A second
// Close is ErrClosed.
func (b *Broker) Close() error {
	b.change.Lock()
	defer b.change.Unlock()
	if b.change.closed {
		return ErrClosed
	}
	b.change.closed = true
	b.stop()
	b.upkeep.Wait()
	b.closeGroups()
	err := b.logs.Close()
	for _, t := range b.Topics() {
		t.moved()
	}
	b.listeners.tell()
	return err
}

// Closed says that Close was called.
func (b *Broker) Closed() bool { return b.running.Err() != nil }

// changing calls do while nobody else changes topics or configurations.
func (b *Broker) changing(do func() error) error {
	b.change.Lock()
	defer b.change.Unlock()
	if b.change.closed {
		return ErrClosed
	}
	return do()
}

// changingTopic is changing of a topic, which has to exist, with what is kept of it.
func (b *Broker) changingTopic(name string, do func(t *Topic, s *topicState) error) error {
	return b.changing(func() error {
		t, err := b.Topic(name)
		if err != nil {
			return err
		}
		return do(t, b.change.state.Topics[name])
	})
}

// NodeID is the broker's id.
func (b *Broker) NodeID() int32 { return b.meta.NodeID }

// ClusterID is the id of the cluster that the broker is all of.
func (b *Broker) ClusterID() string { return b.meta.ClusterID }

// Dir is the directory the broker was opened in.
func (b *Broker) Dir() string { return b.dir }

// Topics lists all topics by name.
func (b *Broker) Topics() []*Topic {
	b.mu.RLock()
	all := slices.Collect(maps.Values(b.mu.byName))
	b.mu.RUnlock()
	slices.SortFunc(all, func(a, b *Topic) int { return cmp.Compare(a.name, b.name) })
	return all
}

// Topic is the topic of that name, UNKNOWN_TOPIC_OR_PARTITION if there is none.
func (b *Broker) Topic(name string) (*Topic, error) {
	b.mu.RLock()
	t := b.mu.byName[name]
	b.mu.RUnlock()
	if t == nil {
		return nil, failf(kerr.UnknownTopicOrPartition, "there is no topic %q", name)
	}
	return t, nil
}

// TopicByID is the topic of that id, UNKNOWN_TOPIC_ID if there is none.
func (b *Broker) TopicByID(id TopicID) (*Topic, error) {
	b.mu.RLock()
	t := b.mu.byID[id]
	b.mu.RUnlock()
	if t == nil {
		return nil, failf(kerr.UnknownTopicID, "there is no topic with the id %s", id)
	}
	return t, nil
}

// Partition is a partition by its topic's name and its number.
func (b *Broker) Partition(topic string, number int32) (*Partition, error) {
	t, err := b.Topic(topic)
	if err != nil {
		return nil, err
	}
	return t.Partition(number)
}

func canonical(name string) string { return strings.ReplaceAll(name, "_", ".") }

func (b *Broker) put(t *Topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.byName[t.name], b.mu.byID[t.id], b.mu.canonical[canonical(t.name)] = t, t, t.name
}

func (b *Broker) remove(t *Topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.mu.byName, t.name)
	delete(b.mu.byID, t.id)
	delete(b.mu.canonical, canonical(t.name))
}

func (t *Topic) moved() {
	for _, p := range t.Partitions() {
		p.Moved()
	}
}

// save writes the state. The caller has change.
func (b *Broker) save() error {
	if err := b.change.state.write(b.fsys, b.dir); err != nil {
		return failf(kerr.KafkaStorageError, "%s could not be written: %v", StateFile, err)
	}
	return nil
}

func directory(topic string, partition int32) string { return fmt.Sprintf("%s-%d", topic, partition) }

// Logger is the one the broker was given, never nil.
func (b *Broker) Logger() *slog.Logger { return b.logger }
