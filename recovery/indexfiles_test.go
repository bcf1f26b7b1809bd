package recovery_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

// indexDamages is what can become of an index file, by name.
func indexDamages(b []byte, entry int) map[string][]byte {
	r := rand.New(rand.NewPCG(1, uint64(len(b))))
	random := make([]byte, max(len(b), 5*entry))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	list := map[string][]byte{
		"missing": nil, "empty": {}, "zero": make([]byte, len(b)), "padded": append(b[:len(b):len(b)], make([]byte, 7*entry)...),
		"random": random, "random, odd": random[:len(random)-1], "one zero entry": make([]byte, entry),
		"of another log": append(b[:len(b)/2/entry*entry:len(b)/2/entry*entry], random[:entry]...),
	}
	for k := range entry { // T1: each length mod entry size
		if k < len(b) {
			list[fmt.Sprintf("%d bytes short", k+1)] = b[:len(b)-k-1]
		}
		list[fmt.Sprintf("%d bytes more", k+1)] = append(b[:len(b):len(b)], random[:k+1]...)
	}
	if len(b) >= 3*entry {
		hole := append([]byte(nil), b...)
		clear(hole[entry : 2*entry])
		list["a zero entry between"] = hole
		swapped := append([]byte(nil), b...)
		copy(swapped, b[entry:2*entry])
		copy(swapped[entry:], b[:entry])
		list["out of order"] = swapped
	}
	return list
}

// TestPitfallT1IndexFiles, M1: whatever becomes of an index file, of the sealed
// or the active segment, after a clean close, a kill, or in another program's
// directory: the log opens, all is there, lookups by offset and time are right,
// and what was wrong is derived anew.
func TestPitfallT1IndexFiles(t *testing.T) {
	for kind, from := range everyKind {
		sound, infos := from(t, 24)
		require.Greater(t, len(infos), 2)
		end := infos[len(infos)-1].Next
		for _, s := range []int{1, len(infos) - 1} {
			for suffix, entry := range map[string]int{segment.IndexSuffix: 8, segment.TimeIndexSuffix: 12} {
				name := segment.Name(infos[s].Base, suffix)
				for damage, b := range indexDamages(content(t, sound, name), entry) {
					t.Run(fmt.Sprintf("%s/%d%s/%s", kind, s, suffix, damage), func(t *testing.T) {
						m := copyOf(t, sound)
						put(t, m, name, b)
						if damage == "missing" {
							remove(t, m, name)
						}
						l := mustOpen(t, reading(options(m)))
						lookups(t, l)
						require.NoError(t, l.Close())
						l = mustOpen(t, options(m))
						lookups(t, l)
						require.NoError(t, l.Close())
						v, err := log.Verify(t.Context(), dir, options(m), nil)
						require.NoError(t, err)
						if kind != "closed" { // content that was vouched for is not looked at
							require.Empty(t, v.Faults)
							recovers(t, m, options(m), span(0, end))
						}
					})
				}
			}
		}
	}
}

// lookups reads every offset, and asks for every time.
func lookups(t testing.TB, l *log.Log) {
	t.Helper()
	for offset := l.First(); offset < l.End(); offset++ {
		r, err := l.Read(offset)
		require.NoError(t, err)
		require.Equal(t, string(rec(offset).Value), string(r.Value))
		at := rec(offset).Time
		want := l.End()
		for o := l.First(); o < l.End(); o++ {
			if !rec(o).Time.Before(at) {
				want = o
				break
			}
		}
		got, err := l.OffsetAt(at)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// TestPitfallM10RebuiltAsWritten: what is derived is what was written while
// appending, byte for byte.
func TestPitfallM10RebuiltAsWritten(t *testing.T) {
	m, infos := closed(t, 40)
	before := files(t, m)
	for _, s := range infos {
		remove(t, m, segment.Name(s.Base, segment.IndexSuffix))
		remove(t, m, segment.Name(s.Base, segment.TimeIndexSuffix))
	}
	l := mustOpen(t, options(m))
	require.NoError(t, l.Close())
	after := files(t, m)
	for _, s := range infos {
		for _, suffix := range []string{segment.IndexSuffix, segment.TimeIndexSuffix} {
			name := segment.Name(s.Base, suffix)
			require.Equal(t, before[name], after[name], name)
		}
	}
}

// Another interval than the one the indexes were written with is no reason to
// do anything.
func TestOtherInterval(t *testing.T) {
	m, infos := closed(t, 30)
	for _, interval := range []int64{1, 4096, 100} {
		o := options(m)
		o.IndexInterval = interval
		l := mustOpen(t, o)
		require.True(t, l.Recovery().Clean)
		lookups(t, l)
		require.NoError(t, l.Close())
	}
	recovers(t, m, options(m), span(0, infos[len(infos)-1].Next))
}

// Indexes derived with another interval, because they were lost, are noted as
// they are: the open after that does nothing.
func TestRederivedWithOtherInterval(t *testing.T) {
	m, infos := closed(t, 30)
	remove(t, m, segment.Name(infos[1].Base, segment.IndexSuffix))
	o := options(m)
	o.IndexInterval = 300
	recovers(t, m, o, span(0, infos[len(infos)-1].Next))
}
