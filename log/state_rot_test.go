package log_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// stateOf is what a log says of its batches beside the records.
type stateOf struct {
	producers []log.ProducerState
	aborted   []log.AbortedTxn
	epochs    []log.EpochEntry
	stable    int64
}

func takeState(l *log.Log) stateOf {
	return stateOf{l.Producers(), l.Aborted(0, l.End()), l.LeaderEpochs(), l.LastStable()}
}

// transactions is a log of several segments: producer 1 with transactions that
// are aborted and committed in turn, producer 2 without any, new leader epochs
// in between.
func transactions(t testing.TB) (*log.Log, *vfs.Mem, log.Options) {
	t.Helper()
	o, m := small(), vfs.NewMem()
	o.Env.FS = m
	l := open(t, "log", o)
	for i := range int16(4) {
		sendTxn(t, l, 1, i, 0, 2)
		end(t, l, 1, i+1, i%2 == 1)
		require.NoError(t, l.SetLeaderEpoch(int32(i)+1))
		send(t, l, 2, 0, 2*int32(i), 1)
		send(t, l, 2, 0, 2*int32(i)+1, 1)
	}
	return l, m, o
}

// TestStateFilesLoseBits: whichever bit of a file that keeps state is flipped, the
// state is that of the batches, and the file is mended by the next open for
// writing. None of these files but the snapshot has a checksum.
func TestStateFilesLoseBits(t *testing.T) {
	l, m, o := transactions(t)
	want := takeState(l)
	require.Len(t, want.aborted, 2)
	require.Len(t, want.epochs, 5)
	closeLog(t, l)
	entries, err := m.ReadDir("log")
	require.NoError(t, err)
	flipped := 0
	for _, e := range entries {
		name := "log/" + e.Name()
		if !strings.HasSuffix(name, ".snapshot") && !strings.HasSuffix(name, ".txnindex") && !strings.HasSuffix(name, "leader-epoch-checkpoint") {
			continue
		}
		sound, err := vfs.ReadFile(m.Kill(), name)
		require.NoError(t, err)
		for bit := range len(sound) * 8 {
			world := m.Kill()
			flipBit(t, world, name, bit)
			o := o
			o.Env.FS = world
			for _, mode := range []log.Mode{log.ReadOnly, log.ReadWrite, log.ReadOnly} {
				o.Mode = mode
				l := open(t, "log", o)
				require.Equal(t, want, takeState(l), "bit %d of %s", bit, name)
				closeLog(t, l)
			}
			if !strings.HasSuffix(name, ".snapshot") {
				mended, err := vfs.ReadFile(world, name)
				require.NoError(t, err)
				require.Equal(t, sound, mended, "bit %d of %s", bit, name)
			}
			flipped++
		}
	}
	require.Greater(t, flipped, 1000)
}

func flipBit(t testing.TB, fs vfs.FS, name string, bit int) {
	t.Helper()
	f, err := fs.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], int64(bit/8))
	require.NoError(t, err)
	b[0] ^= 1 << (bit % 8)
	_, err = f.WriteAt(b[:], int64(bit/8))
	require.NoError(t, err)
}

// TestLeaderEpochOfABatchLosesABit: the leader epoch of a batch, which no checksum
// covers, does not change the history, whether that is read or derived.
func TestLeaderEpochOfABatchLosesABit(t *testing.T) {
	l, m, o := transactions(t)
	want := l.LeaderEpochs()
	closeLog(t, l)
	for _, without := range [][]string{nil, {"seglog.checkpoint"}} {
		for _, s := range l.Segments() {
			content, err := vfs.ReadFile(m.Kill(), s.Path)
			require.NoError(t, err)
			for pos := 0; pos < len(content); {
				h, err := record.ParseHeader(content[pos:])
				require.NoError(t, err)
				for bit := range 32 {
					world := m.Kill()
					for _, name := range without {
						require.NoError(t, world.Remove("log/"+name))
					}
					flipBit(t, world, s.Path, (pos+12)*8+bit)
					o := o
					o.Env.FS = world
					l := open(t, "log", o)
					require.Equal(t, want, l.LeaderEpochs(), "offset %d, bit %d", h.BaseOffset, bit)
					closeLog(t, l)
				}
				pos += h.Size
			}
		}
	}
}

// TestTransactionsAroundDamage: where batches of transactions are damaged, nothing
// that was aborted is handed out as committed, damaged or repaired; a lost ABORT
// marker is known from its segment's index. What a lost COMMIT marker decided
// stays open until its producer ends a transaction again.
func TestTransactionsAroundDamage(t *testing.T) {
	l, m, o := transactions(t)
	want := takeState(l)
	undecided := map[int64]bool{}
	for _, a := range want.aborted {
		for offset := a.First; offset < a.Last; offset++ {
			undecided[offset] = true
		}
	}
	killed := m.Kill()
	segments := l.Segments()
	foreign := killed.Kill()
	require.NoError(t, foreign.Remove("log/seglog.checkpoint"))
	abortsLost, commitsLost := 0, 0
	for kind, world := range map[string]*vfs.Mem{"killed": killed, "foreign": foreign} {
		for _, s := range segments {
			content, err := vfs.ReadFile(world.Kill(), s.Path)
			require.NoError(t, err)
			for pos := int64(0); pos < s.Bytes; {
				b, err := record.Parse(content[pos:])
				require.NoError(t, err)
				at := pos + record.HeaderSize
				pos += int64(b.Size)
				if kind == "foreign" && pos == s.Bytes && s.Active {
					continue // torn
				}
				for _, mode := range []log.Mode{log.ReadOnly, log.Repair} {
					world := world.Kill()
					flipBit(t, world, s.Path, int(at*8))
					o := o
					o.Env.FS, o.Mode = world, mode
					l := open(t, "log", o)
					for r, err := range l.Isolated(log.ReadCommitted).From(0) {
						require.True(t, err != nil || !undecided[r.Offset], "%s: offset %d, with the batch of %d lost", kind, r.Offset, b.BaseOffset)
					}
					aborted := slices.ContainsFunc(want.aborted, func(a log.AbortedTxn) bool { return a.Last == b.BaseOffset })
					switch {
					case b.Control() && aborted:
						require.Equal(t, want.aborted, l.Aborted(0, l.End()))
						require.Equal(t, want.stable, l.LastStable())
						abortsLost++
					case b.Control() && b.BaseOffset > want.aborted[1].Last: // the last one
						require.Equal(t, b.BaseOffset-2, l.LastStable(), "open since then")
						if mode == log.Repair {
							end(t, l, 1, 9, true)
							require.Equal(t, l.End(), l.LastStable())
						}
						commitsLost++
					}
					closeLog(t, l)
					o.Mode = log.ReadWrite
					if mode == log.Repair {
						closeLog(t, open(t, "log", o))
					}
				}
			}
		}
	}
	require.Equal(t, 8, abortsLost)
	require.Equal(t, 4, commitsLost)
}
