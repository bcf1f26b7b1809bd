package log_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// clock is a clock that tests move.
type clock struct{ now time.Time }

func newClock() *clock                 { return &clock{time.UnixMilli(1_700_000_000_000).UTC()} }
func (c *clock) add(d time.Duration)   { c.now = c.now.Add(d) }
func (c *clock) option(o *log.Options) { o.Env.Now = func() time.Time { return c.now } }

// compactedLog are small options of a log that is compacted, tombstones staying
// for an hour.
func compactedLog() log.Options {
	o := small()
	o.Compaction = &compact.Options{DeleteRetention: time.Hour}
	return o
}

func keyed(key, value string) record.Record {
	r := record.Record{Key: []byte(key)}
	if value != "" {
		r.Value = []byte(value)
	}
	return r
}

func put(t testing.TB, l *log.Log, records ...record.Record) {
	t.Helper()
	_, err := l.Append(records...)
	require.NoError(t, err)
}

func compacted(t require.TestingT, l *log.Log) compact.Result {
	r, err := l.Compact(ctx)
	require.NoError(t, err)
	return r
}

// readAll is what a log holds, as "offset key=value" or "offset key" for a
// tombstone.
func readAll(t testing.TB, l *log.Log) (list []string) {
	t.Helper()
	for r, err := range l.From(l.First()) {
		require.NoError(t, err)
		list = append(list, show(r))
	}
	return list
}

func show(r record.Record) string {
	if r.Value == nil {
		return fmt.Sprintf("%d %s", r.Offset, r.Key)
	}
	return fmt.Sprintf("%d %s=%s", r.Offset, r.Key, strings.TrimRight(string(r.Value), "."))
}

// roll fills the active segment until another one is begun, with a key of its
// own each.
func roll(t testing.TB, l *log.Log) {
	t.Helper()
	for n := len(l.Segments()); len(l.Segments()) == n; {
		put(t, l, keyed(fmt.Sprintf("roll-%d", l.End()), strings.Repeat(".", 300)))
	}
}

// withoutRolls leaves out the records that roll appended.
func withoutRolls(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return strings.Contains(s, " roll-") })
}

func TestCompactKeepsTheNewest(t *testing.T) {
	l, _, _ := inMem(t, compactedLog())
	put(t, l, keyed("a", "1"), keyed("b", "1"), keyed("a", "2"))
	put(t, l, keyed("a", "3"))
	roll(t, l)
	put(t, l, keyed("b", "2")) // in the active segment: not seen
	r := compacted(t, l)
	require.EqualValues(t, 2, r.Dropped)
	require.Equal(t, []string{"1 b=1", "3 a=3"}, withoutRolls(readAll(t, l))[:2])
	_, err := l.Read(0)
	require.ErrorIs(t, err, log.ErrNoRecord)
	require.Equal(t, compact.NothingDirty, compacted(t, l).Plan.Skip)
}

// TestCompactReopens: a compacted log is closed clean and opened without a look.
func TestCompactReopens(t *testing.T) {
	o := compactedLog()
	l, f, _ := inMem(t, o)
	o.Env.FS = f
	for range 5 {
		put(t, l, keyed("a", "x"), keyed("b", ""))
		roll(t, l)
	}
	require.EqualValues(t, 8, compacted(t, l).Dropped)
	want, segments := readAll(t, l), l.Segments()
	closeLog(t, l)
	l = open(t, "log", o)
	require.True(t, l.Recovery().Clean, "%v", l.Recovery().LogValue())
	require.Equal(t, want, readAll(t, l))
	require.Equal(t, segments, l.Segments())
	v, err := log.Verify(ctx, "log", o, nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	require.Empty(t, v.Notes)
}

// TestCompactTombstones: a deletion stays until its horizon, is the newest of
// its key meanwhile, and then goes.
func TestCompactTombstones(t *testing.T) {
	c, o := newClock(), compactedLog()
	c.option(&o)
	l, _, _ := inMem(t, o)
	put(t, l, keyed("a", "1"), keyed("b", "1"))
	put(t, l, keyed("a", ""), keyed("c", ""))
	roll(t, l)
	compacted(t, l)
	require.Equal(t, []string{"1 b=1", "2 a", "3 c"}, withoutRolls(readAll(t, l)))
	c.add(time.Hour - time.Millisecond)
	roll(t, l)
	compacted(t, l)
	require.Equal(t, []string{"1 b=1", "2 a", "3 c"}, withoutRolls(readAll(t, l)))
	c.add(time.Millisecond)
	roll(t, l)
	compacted(t, l)
	require.Equal(t, []string{"1 b=1"}, withoutRolls(readAll(t, l)))
}

// TestCompactModel: after any appends, compactions and passing of time the log
// holds the newest value of every key, at the offset it was given; nothing that
// is left is not what was appended there; and each round of a tiny map comes to
// the same.
func TestCompactModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		o := log.Options{SegmentBytes: int64(rapid.IntRange(3000, 6000).Draw(t, "segment")), IndexInterval: 100,
			Compression: record.Codec(rapid.IntRange(0, 4).Draw(t, "codec"))}
		c.option(&o)
		o.Env.FS = vfs.NewMem()
		few := int64(rapid.IntRange(64, 200).Draw(t, "slots")) * 24
		o.Compaction = &compact.Options{DeleteRetention: time.Hour, MapBytes: rapid.SampledFrom([]int64{0, few}).Draw(t, "map")}
		l, err := log.Open(ctx, "log", o)
		require.NoError(t, err)
		m := compactModel{newest: make(map[string]string), all: make(map[int64]string)}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				var batch []record.Record
				for range rapid.IntRange(1, 20).Draw(t, "records") {
					key := fmt.Sprint("k", rapid.IntRange(0, 40).Draw(t, "key"))
					value := strings.Repeat("v", rapid.IntRange(0, 60).Draw(t, "value"))
					r := keyed(key, value)
					if rapid.IntRange(0, 9).Draw(t, "header") == 0 {
						r.Headers = []record.Header{{Key: "h", Value: []byte(value)}}
					}
					batch = append(batch, r)
				}
				first, err := l.Append(batch...)
				require.NoError(t, err)
				for i, r := range batch {
					r.Offset = first + int64(i)
					m.append(r)
				}
			},
			"compact":     func(t *rapid.T) { compacted(t, l) },
			"time passes": func(t *rapid.T) { c.add(time.Duration(rapid.IntRange(1, 90).Draw(t, "minutes")) * time.Minute) },
			"reopen": func(t *rapid.T) {
				require.NoError(t, l.Close())
				o.Compaction.MapBytes = rapid.SampledFrom([]int64{0, few}).Draw(t, "map")
				var err error
				l, err = log.Open(ctx, "log", o)
				require.NoError(t, err)
				require.True(t, l.Recovery().Clean)
			},
			"": func(t *rapid.T) { m.check(t, l) },
		})
		compacted(t, l)
		m.check(t, l)
		require.NoError(t, l.Close())
		v, err := log.Verify(ctx, "log", o, nil)
		require.NoError(t, err)
		require.Empty(t, v.Faults)
		require.Empty(t, v.Notes)
	})
}

type compactModel struct {
	newest map[string]string // by key, as show has it
	all    map[int64]string
}

func (m *compactModel) append(r record.Record) {
	s := show(r)
	m.newest[string(r.Key)], m.all[r.Offset] = s, s
}

func (m *compactModel) check(t *rapid.T, l *log.Log) {
	last, newest := int64(-1), make(map[string]string)
	for r, err := range l.From(l.First()) {
		require.NoError(t, err)
		require.Greater(t, r.Offset, last)
		require.Equal(t, m.all[r.Offset], show(r))
		last, newest[string(r.Key)] = r.Offset, show(r)
	}
	for key, want := range m.newest {
		got, ok := newest[key]
		if !ok && !strings.Contains(want, "=") {
			continue // a tombstone may be gone
		}
		require.Equal(t, want, got)
	}
	for key := range newest {
		require.Contains(t, m.newest, key)
	}
}

// TestCompactBesideReadersAndAppenders: what readers see while segments are
// exchanged is what was appended, in order, and the newest of all is there.
func TestCompactBesideReadersAndAppenders(t *testing.T) {
	o := log.Options{SegmentBytes: 16 << 10, IndexInterval: 500, MappedSegments: 3, Compaction: &compact.Options{}}
	l := open(t, t.TempDir(), o)
	const keys, batches = 50, 600
	ctx, cancel := context.WithCancel(ctx)
	errs := make(chan error, 4)
	go func() { // appender
		defer cancel()
		for i := range batches {
			if _, err := l.Append(keyed(fmt.Sprint("k", i%keys), fmt.Sprintf("%d-%s", i, strings.Repeat("x", 200)))); err != nil {
				errs <- err
				return
			}
		}
		errs <- nil
	}()
	go func() { // tail
		next := int64(0)
		for r, err := range l.Tail(ctx, 0) {
			if ctx.Err() != nil {
				break
			}
			if err != nil || r.Offset < next || !strings.HasPrefix(string(r.Value), fmt.Sprint(r.Offset, "-")) {
				errs <- fmt.Errorf("offset %d after %d: %w", r.Offset, next, err)
				return
			}
			next = r.Offset + 1
		}
		errs <- nil
	}()
	go func() { // from the beginning, again and again
		for ctx.Err() == nil {
			n, seen := l.End(), make(map[string]bool)
			for r, err := range l.From(0) {
				if err != nil || !strings.HasPrefix(string(r.Value), fmt.Sprint(r.Offset, "-")) {
					errs <- fmt.Errorf("offset %d: %w", r.Offset, err)
					return
				}
				seen[string(r.Key)] = true
			}
			if n >= keys && len(seen) < keys {
				errs <- fmt.Errorf("%d keys of %d", len(seen), keys)
				return
			}
		}
		errs <- nil
	}()
	go func() {
		for ctx.Err() == nil {
			if _, err := l.Compact(context.Background()); err != nil {
				errs <- err
				return
			}
		}
		errs <- nil
	}()
	for range 4 {
		require.NoError(t, <-errs)
	}
	compacted(t, l)
	require.Less(t, len(readAll(t, l)), batches)
}
