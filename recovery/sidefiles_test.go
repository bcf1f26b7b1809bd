package recovery_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

func sideDamages(b []byte) map[string][]byte {
	flipped := append([]byte(nil), b...)
	if len(b) > 0 {
		flipped[len(b)/2] ^= 1
	}
	return map[string][]byte{"empty": {}, "half": b[:len(b)/2], "one byte short": b[:max(len(b)-1, 0)], "flipped": flipped,
		"garbage": []byte("\x00\xff not a checkpoint\n\n\n"), "zeros": make([]byte, len(b)), "more": append(b[:len(b):len(b)], '\n')}
}

// TestPitfallM2SideFiles: each side file missing, empty, half and garbage. The
// checkpoint costs a scan, and no record; the log start is then that of the
// first segment.
func TestPitfallM2SideFiles(t *testing.T) {
	for kind, from := range everyKind {
		sound, infos := from(t, 20)
		end := infos[len(infos)-1].Next
		for _, name := range []string{recovery.CheckpointName, log.LockName, recovery.CheckpointName + vfs.TempSuffix,
			"leader-epoch-checkpoint", "partition.metadata", segment.Name(end, segment.SnapshotSuffix)} {
			var b []byte
			if kind != "foreign" && name == recovery.CheckpointName {
				b = content(t, sound, name)
			}
			for _, damaged := range sideDamages(b) {
				m := copyOf(t, sound)
				put(t, m, name, damaged)
				m = recovers(t, m, options(m), span(0, end))
				switch name {
				case recovery.CheckpointName, log.LockName, recovery.CheckpointName + vfs.TempSuffix:
				case "leader-epoch-checkpoint":
					require.Equal(t, "0\n1\n0 0\n", string(content(t, m, name)), "it is derived from the batches")
				default:
					require.Equal(t, string(damaged), string(content(t, m, name)), "%s was touched", name)
				}
			}
			m := copyOf(t, sound)
			remove(t, m, name)
			recovers(t, m, options(m), span(0, end))
		}
	}
}

// TestPitfallM2UnbelievedCheckpoint: it is said, and the rest is as without one.
func TestPitfallM2UnbelievedCheckpoint(t *testing.T) {
	m, _ := closed(t, 5)
	put(t, m, recovery.CheckpointName, []byte("half"))
	r := inspect(t, m, recovery.Options{})
	require.True(t, r.Foreign)
	require.Nil(t, r.Checkpoint)
	require.Contains(t, r.Note, recovery.CheckpointName)
	require.False(t, r.Clean)
}

// TestPitfallM6OldCheckpoint: a checkpoint of earlier is no position to write
// at: what was appended since is found.
func TestPitfallM6OldCheckpoint(t *testing.T) {
	m, _ := closed(t, 7)
	old := content(t, m, recovery.CheckpointName)
	l := mustOpen(t, options(m))
	fill(t, l, 20)
	end := l.End()
	require.NoError(t, l.Close())
	put(t, m, recovery.CheckpointName, old)
	recovers(t, m, options(m), span(0, end))
}

// TestPitfallM2KafkaLogStart: of another program's log, the broker's checkpoint
// in the parent directory says where it starts; one that cannot be read costs
// only that.
func TestPitfallM2KafkaLogStart(t *testing.T) {
	for text, first := range map[string]int64{
		"0\n1\nt 0 5\n":                    5,
		"0\r\n1\r\nt 0 5\r\n":              5,
		"0\n2\nother 0 7\nt 0 5\n":         5,
		"0\n1\n  t   0\t5  \n":             5,
		"0\n1\nt 1 5\n":                    0,
		"0\n0\n":                           0,
		"0\n":                              0,
		"":                                 0,
		"0\n1\nt 0 999999\n":               -1, // beyond the end
		"0\n2\nt 0 5\n":                    0,
		"1\n1\nt 0 5\n":                    0,
		"0\n1\nt 0 x\n":                    0,
		"0\n1\nt 0 -5\n":                   0,
		"0\n1\nt 0\n":                      0,
		"garbage":                          0,
		"0\n1\nt 0 99999999999999999999\n": 0,
	} {
		m, infos := foreign(t, 20)
		end := infos[len(infos)-1].Next
		require.NoError(t, vfs.WriteFile(m, filepath.Join(filepath.Dir(dir), "log-start-offset-checkpoint"), []byte(text)))
		if first < 0 {
			first = end
		}
		recovers(t, m, options(m), span(first, end))
	}
}

// A broker's checkpoint that cannot be read now is no reason to bring back the
// records that it deleted.
func TestKafkaLogStartUnreadable(t *testing.T) {
	m, infos := foreign(t, 20)
	end := infos[len(infos)-1].Next
	require.NoError(t, vfs.WriteFile(m, filepath.Join(filepath.Dir(dir), "log-start-offset-checkpoint"), []byte("0\n1\nt 0 5\n")))
	for _, op := range []vfs.Op{vfs.OpOpen, vfs.OpSize, vfs.OpReadAt} {
		f := vfs.NewFaulty(m)
		for _, o := range []log.Options{options(f), reading(options(f))} {
			f.Clear()
			f.Add(vfs.Rule{Op: op, Path: "log-start-*", Count: 1, Err: syscall.EMFILE})
			_, err := log.Open(t.Context(), dir, o)
			require.ErrorIs(t, err, syscall.EMFILE)
		}
	}
	recovers(t, m, options(m), span(5, end))
}

// Once the log is ours, its own checkpoint says where it starts, and the
// broker's no more.
func TestLogStartIsOursThen(t *testing.T) {
	m, _ := foreign(t, 20)
	l := mustOpen(t, options(m))
	require.NoError(t, l.DropBefore(9))
	end := l.End()
	require.NoError(t, l.Close())
	require.NoError(t, vfs.WriteFile(m, filepath.Join(filepath.Dir(dir), "log-start-offset-checkpoint"), []byte("0\n1\nt 0 2\n")))
	recovers(t, m, options(m), span(9, end))
}

func TestCheckpointRoundTrip(t *testing.T) {
	for _, c := range []recovery.Checkpoint{
		{},
		{Clean: true, RecoveryPoint: 12, HighWatermark: 11, LogStart: 3},
		{Dropping: true, DropFrom: 7},
		{Dropping: true},
		{Cleaned: 5, RecoveryPoint: 9, Segments: []segment.Facts{segment.Empty(5)}},
		{Cleaned: 5},
		{CleanedNoted: 5},
		{Cleaned: 3, CleanedNoted: 5, Boot: "boot"},
		{ProducersAt: 9, Producers: 2, Ended: []producers.Txn{{ProducerID: 1 << 40, First: 2, Last: 7}, {ProducerID: 3, First: 4, Last: 8}}},
		{RecoveryPoint: 9, Segments: []segment.Facts{
			{Base: 0, Next: 5, Size: 100, IndexBytes: 8, TimeBytes: 12, FirstTime: -1, MaxTime: 1 << 50, MaxTimeAt: 4, Seal: 1, HasSeal: true},
			segment.Empty(5),
		}},
	} {
		m := vfs.NewMem()
		require.NoError(t, vfs.MkdirAll(m, dir, 0o755))
		require.NoError(t, recovery.WriteCheckpoint(m, dir, &c))
		got, err := recovery.ReadCheckpoint(m, dir)
		require.NoError(t, err)
		require.Equal(t, &c, got)
		text := c.Encode()
		for i := range text { // any byte changed, any length: not believed
			b := append([]byte(nil), text...)
			b[i] ^= 0x20
			_, err := recovery.DecodeCheckpoint(b)
			require.Error(t, err, "byte %d", i)
			_, err = recovery.DecodeCheckpoint(text[:i])
			require.Error(t, err, "%d bytes", i)
		}
	}
	m := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(m, dir, 0o755))
	_, err := recovery.ReadCheckpoint(m, dir)
	require.NotErrorIs(t, err, record.ErrCorrupt)
}

// The text of a checkpoint is a format: this one is read as long as its version
// is.
func TestCheckpointGolden(t *testing.T) {
	const golden = "seglog.checkpoint 1\nclean true\nrecovery-point 9\nhigh-watermark 8\nlog-start 2\ndrop-from -\n" +
		"producers 7 2 aborted 1\ncleaned 5\ncleaned-noted 6\nended 4001 first 3 last 6\n" +
		"segment 0 next 5 size 100 index 8 timeindex 12 first -1 max 1700000000000 at 4 seal 0000000000abcdef\n" +
		"segment 5 next 9 size 70 index 0 timeindex 12 first 5 max 6 at 8 seal -\n" +
		"xxhash64 "
	c := recovery.Checkpoint{Clean: true, RecoveryPoint: 9, HighWatermark: 8, LogStart: 2, ProducersAt: 7, Producers: 2, Aborted: 1, Cleaned: 5, CleanedNoted: 6, Ended: []producers.Txn{{ProducerID: 4001, First: 3, Last: 6}}, Segments: []segment.Facts{
		{Base: 0, Next: 5, Size: 100, IndexBytes: 8, TimeBytes: 12, FirstTime: -1, MaxTime: 1700000000000, MaxTimeAt: 4, Seal: 0xabcdef, HasSeal: true},
		{Base: 5, Next: 9, Size: 70, TimeBytes: 12, FirstTime: 5, MaxTime: 6, MaxTimeAt: 8},
	}}
	text := string(c.Encode())
	require.Equal(t, golden, text[:len(golden)])
	require.Regexp(t, `^[0-9a-f]{16}\n$`, text[len(golden):])
	c.Cleaned, c.CleanedNoted = 0, 0
	require.NotContains(t, string(c.Encode()), "cleaned")
}
