package log

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/segment"
)

var (
	// ErrNoPartition says that a Manager has no partition of that name.
	ErrNoPartition = errors.New("log: no such partition")
	// ErrExists says that there is one already.
	ErrExists = errors.New("log: the partition exists")
)

// Manager is many logs in one directory: a Kafka broker's log directory. A log
// that cannot be opened is set aside with its error, and the others serve.
//
// What a text file of the directory says or fails to say is never a reason to
// remove a log; neither is that a log or a file is missing.
//
// All methods may be called by any number of goroutines, and Create does not wait
// for a Create of another partition. None is started but while OpenManager and
// Close open and close several logs at a time.
type Manager struct {
	dir   string
	opts  ManagerOptions
	cache *segment.Cache
	locks []io.Closer // empty when read-only
	found Found
	// closedHere says that the mark of a clean shutdown was ours: see believes.
	closedHere bool

	// change is held by who changes which partitions there are, or the files
	// that tell of them. It is taken before mu. Those who make partitions share it:
	// each has its name reserved, in mu.
	change sync.RWMutex
	disk   checkpoints // as last read or written
	unsure [4]bool     // the last write failed: the file may say the one or the other
	cut    cut         // under way

	telling struct {
		sync.Mutex
		untold []func() // calls of hooks, for when change is given up
	}

	names joint // SyncDir of dir

	mu struct {
		sync.RWMutex
		partitions map[string]*Partition // by the directory's name; immutable each
		making     map[string]bool       // names of partitions that Create is at
		closed     bool
	}
}

// ManagerOptions are a Manager's settings. The zero value works.
type ManagerOptions struct {
	// Log are the settings of every log. MappedSegments bounds the mapped sealed
	// segments of all together; these cost no descriptors. A log open for
	// writing holds two to four, for its newest segment and its lock. DeleteDelay
	// is how long the files of a deleted partition stay, too.
	Log Options
	// Each, if not nil, changes the settings for one partition, as a topic's
	// configuration does. Env, MappedSegments and a ReadOnly Mode stay those of
	// Log.
	Each func(name string, o Options) Options
	// Parallel is how many logs are opened or closed at a time
	// (num.recovery.threads.per.data.dir). 0 is one for each processor.
	Parallel int
}

// PartitionState is what the name of a directory says of the partition in it:
// live, deleted, a future copy (of a partition being moved between
// directories), or stray (not known to the cluster). Only live ones are opened.
type PartitionState = kafkadir.State

const (
	PartitionLive    = kafkadir.Live
	PartitionDeleted = kafkadir.Deleted
	PartitionFuture  = kafkadir.Future
	PartitionStray   = kafkadir.Stray
)

// TopicID is the id of a topic in Kafka's metadata; the zero value is none.
type TopicID = kafkadir.ID

// Partition is one directory of a Manager.
type Partition struct {
	Name    string // of the directory, like topic-0
	Topic   string
	Number  int32
	State   PartitionState
	TopicID TopicID // from partition.metadata
	Log     *Log    // open; nil if it is not live, or Err says why not
	Err     error   // why it could not be opened

	parsed kafkadir.Name
	until  time.Time // its files stay, of one that is deleted
}

// Found is what a directory held beside its logs.
type Found struct {
	// Clean says that all logs of the directory were closed: by a broker or by
	// a Manager.
	Clean bool
	// Meta is meta.properties; nil if there is none that can be read.
	Meta *Meta
	// Notes are oddities, each a sentence: files that could not be read, and
	// directories that are no partition's. They stay as they are.
	Notes []string
}

// Meta says to which broker of which cluster a directory belongs.
type Meta = kafkadir.Meta

func (o ManagerOptions) withDefaults() (ManagerOptions, error) {
	def(&o.Parallel, runtime.GOMAXPROCS(0))
	if o.Parallel < 0 {
		return o, fmt.Errorf("log: a negative Parallel")
	}
	var err error
	o.Log, err = o.Log.withDefaults()
	return o, err
}

// Dir is the directory the Manager was opened in.
func (m *Manager) Dir() string { return m.dir }

// Found is what the directory held when it was opened. It must not be changed.
func (m *Manager) Found() *Found { return &m.found }

// Partitions lists all partitions by topic and number: the open ones, those
// that could not be opened, and those that are not live.
func (m *Manager) Partitions() []Partition {
	m.mu.RLock()
	defer m.mu.RUnlock()
	list := make([]Partition, 0, len(m.mu.partitions))
	for _, p := range m.mu.partitions {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b Partition) int { return a.parsed.Compare(b.parsed) })
	return list
}

// Partition is the one in the directory of that name, whatever its state.
func (m *Manager) Partition(name string) (p Partition, ok bool) {
	if known := m.lookup(name); known != nil {
		return *known, true
	}
	return p, false
}

// Logs are the open logs with their names, by topic and number.
func (m *Manager) Logs() iter.Seq2[string, *Log] {
	return func(yield func(string, *Log) bool) {
		for _, p := range m.Partitions() {
			if p.Log != nil && !yield(p.Name, p.Log) {
				return
			}
		}
	}
}

// Log is the open log of that name, like topic-0. There may be none since there
// is no such partition (ErrNoPartition) or since it could not be opened: then
// the error is why.
func (m *Manager) Log(name string) (*Log, error) {
	m.mu.RLock()
	p, closed := m.mu.partitions[name], m.mu.closed
	m.mu.RUnlock()
	switch {
	case closed:
		return nil, ErrClosed
	case p == nil || p.State != PartitionLive:
		return nil, fmt.Errorf("%w: %s", ErrNoPartition, name)
	case p.Err != nil:
		return nil, fmt.Errorf("%s is set aside: %w", name, p.Err)
	}
	return p.Log, nil
}

// later leaves calls of hooks for when change is given up: they may want it.
func (m *Manager) later(calls ...func()) {
	m.telling.Lock()
	defer m.telling.Unlock()
	m.telling.untold = append(m.telling.untold, calls...)
}

func (m *Manager) takeUntold() []func() {
	m.telling.Lock()
	defer m.telling.Unlock()
	untold := m.telling.untold
	m.telling.untold = nil
	return untold
}

// changed gives change up and calls the hooks that were left for then; made gives
// up what was shared of it.
func (m *Manager) changed() {
	untold := m.takeUntold()
	m.change.Unlock()
	tellAll(untold)
}

func (m *Manager) made() {
	untold := m.takeUntold()
	m.change.RUnlock()
	tellAll(untold)
}

// closeLog closes a log and leaves its hooks for later.
func (m *Manager) closeLog(l *Log) error {
	synced, err := l.close()
	m.later(func() { l.tellSynced(synced) })
	return err
}

// reserve takes a name for a partition that is to be made, until unreserve: there
// is none of that name.
func (m *Manager) reserve(name string) error {
	if err := m.writable(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.partitions[name] != nil || m.mu.making[name] {
		return fmt.Errorf("%w: %s", ErrExists, name)
	}
	m.mu.making[name] = true
	return nil
}

func (m *Manager) unreserve(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mu.making, name)
}

// put sets what is known of a directory; without forgets it.
func (m *Manager) put(p *Partition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.partitions[p.Name] = p
}

func (m *Manager) without(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mu.partitions, name)
}

// syncNames makes the names of partitions durable that are there now.
func (m *Manager) syncNames() error {
	return m.names.do(func() error { return m.opts.Log.Env.FS.SyncDir(m.dir) })
}

// lookup is what is known of a directory, nil for nothing.
func (m *Manager) lookup(name string) *Partition {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.mu.partitions[name]
}

// writable says why the Manager takes no change, nil if it does.
func (m *Manager) writable() error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	switch {
	case m.mu.closed:
		return ErrClosed
	case m.opts.Log.Mode == ReadOnly:
		return ErrReadOnly
	}
	return nil
}

// parallel calls f for each, several at a time, until ctx ends.
func parallel[T any](ctx context.Context, workers int, each []T, f func(T)) {
	if workers == 1 {
		for _, x := range each {
			if ctx.Err() == nil {
				f(x)
			}
		}
		return
	}
	next := make(chan T)
	var wg sync.WaitGroup
	for range min(workers, len(each)) {
		wg.Go(func() {
			for x := range next {
				f(x)
			}
		})
	}
	for _, x := range each {
		if ctx.Err() != nil {
			break
		}
		next <- x
	}
	close(next)
	wg.Wait()
}
