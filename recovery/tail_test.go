package recovery_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

func config(m vfs.FS) *segment.Config {
	return &segment.Config{FS: m, Dir: dir, Bytes: 1000, IndexInterval: 100, Cache: segment.NewCache(2),
		Logger: slog.New(slog.DiscardHandler)}
}

// tail is a log whose newest segment ends in whatever edit makes of its bytes,
// given without the zeros behind them, and of one more whole batch.
func tail(t *testing.T, from func(testing.TB, int) (*vfs.Mem, []info), n int, edit func(whole, more []byte) []byte) (*vfs.Mem, int64) {
	t.Helper()
	m, infos := from(t, n)
	last := infos[len(infos)-1]
	whole := content(t, m, logName(last.Base))[:last.Bytes]
	put(t, m, logName(last.Base), edit(whole, batch(t, last.Next, 2)))
	return m, last.Next
}

// batch is an encoded batch of n records from offset on.
func batch(t testing.TB, offset int64, n int) []byte {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{BaseOffset: offset, LeaderEpoch: -1})
	for i := range n {
		r := rec(offset + int64(i))
		require.NoError(t, b.Add(&r))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	return bytes.Clone(raw)
}

var everyKind = map[string]func(testing.TB, int) (*vfs.Mem, []info){"rebooted": rebooted, "closed": closed, "foreign": foreign}

// TestPitfallO1StrayBytes: any number of bytes of a batch behind the end, from
// one to all but one, is cut; what is appended then is not lost behind them.
func TestPitfallO1StrayBytes(t *testing.T) {
	for kind, from := range everyKind {
		for k := 1; k < len(batch(t, 14, 2)); k += 1 + k/70 {
			m, end := tail(t, from, 7, func(whole, more []byte) []byte { return append(whole, more[:k]...) })
			if kind != "foreign" || k > 16 {
				r := inspect(t, m, recovery.Options{})
				require.Len(t, r.Actions, 1, "%s, %d bytes", kind, k)
				require.Equal(t, recovery.Cut, r.Actions[0].Kind)
				require.EqualValues(t, k, r.Actions[0].Bytes)
			}
			recovers(t, m, options(m), span(0, end))
		}
	}
}

// TestPitfallO1ShortTail: the last batch is cut by any number of bytes. It was
// not durable, so it is torn; none of it may come back. A clean close had made
// it durable: then its loss is damage and needs to be asked for.
func TestPitfallO1ShortTail(t *testing.T) {
	for kind, from := range everyKind {
		_, infos := from(t, 7)
		last := infos[len(infos)-1]
		all := batches(t, content(t, must(from(t, 7)), logName(last.Base))[:last.Bytes])
		cutting := all[len(all)-1]
		for k := 1; k < cutting.to-cutting.from; k += 1 + k/40 {
			m, _ := tail(t, from, 7, func(whole, _ []byte) []byte { return whole[:len(whole)-k] })
			o := options(m)
			if kind == "closed" {
				refuses(t, m, logName(last.Base), int64(cutting.from))
				o = repairing(o)
			}
			recovers(t, m, o, span(0, cutting.base))
		}
	}
}

// TestPitfallW5ZeroTail, W4: what was allocated and never written is cut without
// being asked for, in the first segment too, and nothing of it is kept.
func TestPitfallW5ZeroTail(t *testing.T) {
	for kind, from := range everyKind {
		for _, n := range []int{0, 1, 7, 30} {
			for _, zeros := range []int{1, 8, 17, 61, 511, 4096} {
				m, end := tail(t, from, n, func(whole, _ []byte) []byte { return append(whole, make([]byte, zeros)...) })
				m = recovers(t, m, options(m), span(0, end))
				require.Empty(t, namesLike(t, m, "seglog.torn-*"), "%s: %d zeros", kind, zeros)
			}
		}
	}
}

func TestPitfallW4ZeroTailOfTheFirstSegment(t *testing.T) {
	m, infos := killed(t, 2)
	require.Len(t, infos, 1)
	require.Greater(t, len(content(t, m, logName(0))), int(infos[0].Bytes))
	recovers(t, m, options(m), span(0, infos[0].Next))
}

// TestPitfallT5JunkTail: junk is cut and kept aside, however it looks.
func TestPitfallT5JunkTail(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	junk := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(1 + r.IntN(255))
		}
		return b
	}
	flipped := func(more []byte) []byte {
		more[len(more)-1] ^= 1
		return more
	}
	for kind, from := range everyKind {
		for name, edit := range map[string]func(more []byte) []byte{
			"one byte":                  func([]byte) []byte { return []byte{7} },
			"random":                    func([]byte) []byte { return junk(333) },
			"all ones":                  func([]byte) []byte { return bytes.Repeat([]byte{0xff}, 90) },
			"a batch with a wrong sum":  flipped,
			"a header without its rest": func(more []byte) []byte { return more[:record.HeaderSize] },
			"a header and zeros":        func(more []byte) []byte { return append(more[:record.HeaderSize], make([]byte, 500)...) },
			"a length without the rest": func(more []byte) []byte { return append(more[:12], make([]byte, 400)...) }, // looks like magic 0
			"an offset that is given": func(more []byte) []byte {
				record.SetBaseOffset(more, 0)
				return more
			},
			"zeros, then junk": func([]byte) []byte { return append(make([]byte, 200), junk(20)...) },
		} {
			var stray []byte
			m, end := tail(t, from, 7, func(whole, more []byte) []byte {
				stray = edit(more)
				return append(whole, stray...)
			})
			m = recovers(t, m, options(m), span(0, end))
			kept := namesLike(t, m, "seglog.torn-*")
			require.Equal(t, []string{fmt.Sprintf("seglog.torn-%020d", end)}, kept, "%s: %s", kind, name)
			require.Equal(t, bytes.TrimRight(stray, "\x00"), content(t, m, kept[0]))
		}
	}
}

// A batch that is whole behind stray bytes was not durable either, when nothing
// says it was: it goes with the rest. Of a log that another program wrote
// nothing is known, so that is damage.
func TestWholeBatchBehindJunk(t *testing.T) {
	for kind, from := range everyKind {
		m, end := tail(t, from, 7, func(whole, more []byte) []byte { return append(append(whole, 1, 2, 3), more...) })
		if kind == "foreign" {
			refuses(t, m, "*.log", -1)
			recovers(t, m, repairing(options(m)), span(0, end+2))
			continue
		}
		m = recovers(t, m, options(m), span(0, end))
		require.Len(t, namesLike(t, m, "seglog.torn-*"), 1)
	}
}

// TestPitfallT2NewestSegment: a newest segment that is empty, partial, or
// without one good batch.
func TestPitfallT2NewestSegment(t *testing.T) {
	for kind, from := range everyKind {
		for name, made := range map[string]func(next int64) []byte{
			"empty":       func(int64) []byte { return nil },
			"one byte":    func(int64) []byte { return []byte{0} },
			"zeros":       func(int64) []byte { return make([]byte, 700) },
			"half":        func(next int64) []byte { return batch(t, next, 3)[:70] },
			"no checksum": func(next int64) []byte { b := batch(t, next, 3); b[80] ^= 4; return b },
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				m, infos := from(t, 7)
				end := infos[len(infos)-1].Next
				put(t, m, logName(end), made(end))
				recovers(t, m, options(m), span(0, end))
			})
		}
	}
}

// TestPitfallT21EmptySegments: a segment of length 0 anywhere in the sequence.
func TestPitfallT21EmptySegments(t *testing.T) {
	m, infos := foreign(t, 40)
	require.Greater(t, len(infos), 4)
	end := infos[len(infos)-1].Next
	// Kafka leaves such ones where compaction has taken everything.
	put(t, m, logName(infos[2].Base), nil)
	recovers(t, m, options(m), without(span(0, end), infos[2].Base, infos[2].Next))
}

// TestPitfallT13RepairLoop, T18: a torn tail at each of ten restarts is one
// repair each, and what is kept stays bounded.
func TestPitfallT13RepairLoop(t *testing.T) {
	m := vfs.NewMem()
	end := int64(0)
	for i := range 2 * recovery.MaxKeptFiles {
		l := mustOpen(t, options(m))
		require.LessOrEqual(t, len(l.Recovery().Actions), 1)
		got, damage := readable(t, l)
		require.Empty(t, damage)
		require.Equal(t, span(0, end), got)
		appendBatch(t, l, 1+i%3)
		end = l.End()
		last := l.Segments()[len(l.Segments())-1]
		m = m.Reboot()
		whole := content(t, m, logName(last.Base))[:last.Bytes]
		put(t, m, logName(last.Base), append(whole, batch(t, end, 1)[:40+i]...))
	}
	m = recovers(t, m, options(m), span(0, end))
	require.LessOrEqual(t, len(namesLike(t, m, "seglog.*")), recovery.MaxKeptFiles+2)
}
