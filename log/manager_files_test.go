package log_test

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// sideFiles are the text files of a log directory and of the partition t-0 in
// it, as a broker would leave them: the directory is one that a manager closed.
var sideFiles = map[string]string{
	"data/recovery-point-offset-checkpoint":  "0\n2\nt 0 12\nu 0 12\n",
	"data/replication-offset-checkpoint":     "0\n2\nt 0 12\nu 0 12\n",
	"data/log-start-offset-checkpoint":       "0\n1\nt 0 7\n",
	"data/cleaner-offset-checkpoint":         "0\n1\nt 0 3\n",
	"data/meta.properties":                   "#\n#Mon Nov 30 01:50:09 UTC 2026\nnode.id=1\ndirectory.id=c0h\nversion=1\ncluster.id=y9L\n",
	"data/.kafka_cleanshutdown":              `{"version":0,"brokerEpoch":345}`,
	"data/.lock":                             "",
	"data/t-0/partition.metadata":            "version: 0\ntopic_id: aMTWN8pvRGC82Gi3PLGhiA",
	"data/t-0/leader-epoch-checkpoint":       "0\n1\n0 0\n",
	"data/t-0/00000000000000000012.snapshot": "\x00\x01\x62\x52\xff\x3f\x00\x00\x00\x00", // no producers
	"data/t-0/00000000000000000005.txnindex": "",
	"data/t-0/seglog.checkpoint":             "",
	"data/t-0/seglog.lock":                   "",
}

// sideDamage are the ways in which a small file goes bad. ok are those in
// which it says what it said.
func sideDamage(good string) (bad, ok map[string]string) {
	flipped := []byte(good)
	if len(flipped) > 0 {
		flipped[len(flipped)/2] ^= 0x10
	}
	bad = map[string]string{
		"empty": "", "half": good[:len(good)/2], "cut": good[:max(len(good)-3, 0)], "flipped": string(flipped),
		"zeros": strings.Repeat("\x00", len(good)+1), "nonsense": "\x7fELF nonsense \xff\n\n", "long": strings.Repeat("0\n", 1000),
		"other version": "9" + good[min(1, len(good)):], "huge count": "0\n999999999\n", "json": "{}",
	}
	ok = map[string]string{"whole": good, "CRLF": strings.ReplaceAll(good, "\n", "\r\n"), "CR": strings.ReplaceAll(good, "\n", "\r")}
	return bad, ok
}

// foreignData is a directory of two partitions, t-0 and u-0 with 12 records
// each, as a broker leaves it: nothing in it is of this engine.
func foreignData(t testing.TB) *vfs.Mem {
	t.Helper()
	mem := vfs.NewMem()
	m := manage(t, "data", onMem(mem))
	create(t, m, "t-0", 12)
	create(t, m, "u-0", 12)
	require.NoError(t, m.Close())
	for _, dir := range []string{"data", "data/t-0", "data/u-0"} {
		for _, name := range names(t, mem, dir) {
			if strings.HasPrefix(name, "seglog.") {
				require.NoError(t, mem.Remove(dir+"/"+name))
			}
		}
	}
	for name, content := range sideFiles {
		if !strings.Contains(name, "seglog.") && !strings.HasSuffix(name, ".lock") {
			write(t, mem, name, content)
		}
	}
	return mem
}

// TestPitfallM2ManagerSideFiles: each side file, of the directory and of a
// partition, missing and bad in every way: both logs open with all their
// records, the log start excepted, which only one file knows; they take
// appends; and a second open has nothing to do.
func TestPitfallM2ManagerSideFiles(t *testing.T) {
	for name, good := range sideFiles {
		bad, ok := sideDamage(good)
		for kind, content := range bad {
			t.Run(name+"/"+kind, func(t *testing.T) {
				mem := foreignData(t)
				write(t, mem, name, content)
				start := int64(7)
				if name == "data/log-start-offset-checkpoint" {
					start = 0
				}
				served(t, mem, start)
			})
		}
		for kind, content := range ok {
			t.Run(name+"/"+kind, func(t *testing.T) {
				mem := foreignData(t)
				write(t, mem, name, content)
				served(t, mem, 7)
			})
		}
		t.Run(name+"/missing", func(t *testing.T) {
			mem := foreignData(t)
			if err := mem.Remove(name); err != nil {
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
			start := int64(7)
			if name == "data/log-start-offset-checkpoint" {
				start = 0
			}
			served(t, mem, start)
		})
	}
}

// served wants both logs of foreignData, appends to them, and wants them again.
func served(t *testing.T, mem *vfs.Mem, start int64) {
	t.Helper()
	m := manage(t, "data", onMem(mem))
	require.Equal(t, []string{"t 0 live", "u 0 live"}, partitions(m))
	for name, l := range m.Logs() {
		if name == "t-0" {
			require.Equal(t, start, l.First())
		} else {
			require.Zero(t, l.First())
		}
		require.Equal(t, int64(12), l.End(), name)
		fill(t, l, 3)
		require.NoError(t, l.Sync(ctx))
		wantValues(t, l)
	}
	require.NoError(t, m.Close())
	m = manage(t, "data", onMem(mem))
	require.True(t, m.Found().Clean)
	for _, l := range m.Logs() {
		require.True(t, l.Recovery().Clean)
		require.Equal(t, int64(15), l.End())
		wantValues(t, l)
	}
	require.NoError(t, m.Close())
}

// TestManagerObeysLaterLogStarts: a broker that had the directory after this
// engine moved a log start that ours does not know of. That a broker had it shows
// by the mark that it left, or where it was killed by the leader epochs, which
// begin where the log was made to start.
func TestManagerObeysLaterLogStarts(t *testing.T) {
	for name, theirs := range map[string]func(mem *vfs.Mem){
		"closed": func(mem *vfs.Mem) { write(t, mem, "data/.kafka_cleanshutdown", `{"version":0,"brokerEpoch":345}`) },
		"closed, before 3.7, or by an earlier version of this engine": func(mem *vfs.Mem) {
			write(t, mem, "data/.kafka_cleanshutdown", "")
		},
		"killed": func(mem *vfs.Mem) {
			require.NoError(t, mem.Remove("data/.kafka_cleanshutdown"))
			write(t, mem, "data/t-0/leader-epoch-checkpoint", "0\n2\n1 9\n2 12\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			mem := twoStarts(t)
			write(t, mem, "data/log-start-offset-checkpoint", "0\n2\nt 0 9\nu 0 2\n")
			theirs(mem)
			m := manage(t, "data", onMem(mem))
			require.Equal(t, int64(9), logOf(t, m, "t-0").First())
			require.Equal(t, int64(8), logOf(t, m, "u-0").First())
		})
	}
}

// twoStarts is a directory of t-0 and u-0, twelve records each, closed, of which
// the first 3 and the first 8 were dropped.
func twoStarts(t testing.TB) *vfs.Mem {
	t.Helper()
	mem := vfs.NewMem()
	m := manage(t, "data", onMem(mem))
	first := create(t, m, "t-0", 0)
	require.NoError(t, first.SetLeaderEpoch(1))
	fill(t, first, 12)
	require.NoError(t, first.DropBefore(3))
	require.NoError(t, create(t, m, "u-0", 12).DropBefore(8))
	require.NoError(t, m.Close())
	return mem
}

// TestManagerDeletesNothingOnAFlippedBit: log-start-offset-checkpoint has no
// checksum. Whatever bit of it is flipped, while this engine has the directory or
// when it was killed, no record that the log's own checkpoint has is dropped.
func TestManagerDeletesNothingOnAFlippedBit(t *testing.T) {
	const name = "data/log-start-offset-checkpoint"
	closed := twoStarts(t)
	running := closed.Fork()
	m := manage(t, "data", onMem(running))
	fill(t, logOf(t, m, "t-0"), 1)
	require.NoError(t, m.Checkpoint(ctx))
	running = running.Kill()
	_, err := running.Stat("data/.kafka_cleanshutdown")
	require.ErrorIs(t, err, fs.ErrNotExist)
	good := text(t, closed, name)
	require.Equal(t, "0\n2\nt 0 3\nu 0 8\n", good)
	others := 0 // that are a checkpoint with a later start
	for state, mem := range map[string]*vfs.Mem{"closed": closed, "killed": running} {
		for bit := range len(good) * 8 {
			flipped := []byte(good)
			flipped[bit/8] ^= 1 << (bit % 8)
			if o, err := kafkadir.DecodeOffsets(flipped); err == nil && (o["t-0"] > 3 || o["u-0"] > 8) {
				others++
			}
			mem := mem.Fork()
			write(t, mem, name, string(flipped))
			m, err := log.OpenManager(ctx, "data", onMem(mem))
			require.NoError(t, err)
			require.Equal(t, int64(3), logOf(t, m, "t-0").First(), "%s, bit %d: %q", state, bit, flipped)
			require.Equal(t, int64(8), logOf(t, m, "u-0").First(), "%s, bit %d: %q", state, bit, flipped)
			wantValues(t, logOf(t, m, "t-0"))
			require.NoError(t, m.Close())
			starts, err := kafkadir.ReadOffsets(mem, "data", kafkadir.LogStartFile)
			require.NoError(t, err)
			require.Equal(t, kafkadir.Offsets{"t-0": 3, "u-0": 8}, starts, "it is put right")
		}
	}
	require.Greater(t, others, 3)
}

// TestManagerFollower: of a log that a broker had, the high watermark it noted
// is a follower's; that of a log which nobody replicates is its end.
func TestManagerFollower(t *testing.T) {
	mem := foreignData(t)
	write(t, mem, "data/replication-offset-checkpoint", "0\n2\nt 0 9\nu 0 9\n")
	o := onMem(mem)
	o.Each = func(name string, o log.Options) log.Options {
		if name == "t-0" {
			o.Mode = log.Follower
		}
		return o
	}
	m := manage(t, "data", o)
	require.Equal(t, int64(9), logOf(t, m, "t-0").HighWatermark())
	require.Equal(t, int64(12), logOf(t, m, "u-0").HighWatermark())
	require.NoError(t, m.Close())
	require.Equal(t, "0\n2\nt 0 9\nu 0 12\n", text(t, mem, "data/replication-offset-checkpoint"))
}

// TestPitfallM11ManagerRemovesNothing: what is unknown, stray, damaged or in no
// file stays on disk, and what the files say of it stays too.
func TestPitfallM11ManagerRemovesNothing(t *testing.T) {
	const id = "9b185c45b0dc43198ec670e0367be09a"
	mem := foreignData(t)
	others := []string{"data/lost+found/x", "data/s-0." + id + "-stray/x", "data/f-0." + id + "-future/x", "data/odd/00000000000000000000.log",
		"data/__cluster_metadata-0/00000000000000000000.log", "data/remote-log-index-cache/x", "data/bootstrap.checkpoint"}
	for _, name := range others {
		write(t, mem, name, "x")
	}
	write(t, mem, "data/d-0."+id+"-delete/x", "x")
	write(t, mem, "data/log-start-offset-checkpoint", "0\n4\nt 0 7\nu 0 6\nf 0 3\ngone 0 4\n")
	write(t, mem, "data/u-0/00000000000000000000.log", strings.Repeat("damage", 100)) // not at the end
	m := manage(t, "data", onMem(mem))
	require.Equal(t, []string{"d 0 deleted", "f 0 future", "s 0 stray", "t 0 live", "u 0 live!"}, partitions(m))
	require.Len(t, m.Found().Notes, 2)
	_, err := m.Log("u-0")
	require.ErrorAs(t, err, new(*log.DamageError))
	require.ErrorContains(t, err, "u-0 is set aside")
	fill(t, logOf(t, m, "t-0"), 1)
	_, err = m.Reopen(ctx, "u-0")
	require.Error(t, err)
	_, err = m.Reopen(ctx, "v-0")
	require.ErrorIs(t, err, log.ErrNoPartition)
	before := names(t, mem, "data/u-0")
	require.NoError(t, m.Close())
	for _, name := range others {
		require.Equal(t, "x", text(t, mem, name))
	}
	require.Equal(t, before, names(t, mem, "data/u-0"))
	_, err = mem.Stat("data/d-0." + id + "-delete")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, "0\n3\nf 0 3\nt 0 7\nu 0 6\n", text(t, mem, "data/log-start-offset-checkpoint"))
	_, err = mem.Stat("data/.kafka_cleanshutdown")
	require.NoError(t, err, "it was clean before, and the damaged one was not touched")

	manage(t, "data", onMem(mem)) // takes the mark away
	mem = mem.Kill()
	m = manage(t, "data", onMem(mem))
	require.False(t, m.Found().Clean)
	require.NoError(t, m.Close())
	_, err = mem.Stat("data/.kafka_cleanshutdown")
	require.ErrorIs(t, err, fs.ErrNotExist, "a partition is in doubt")
	require.NoError(t, manage(t, "data", onMem(mem)).Delete("u-0"))
}

// TestManagerFaults: whatever call fails, no log is lost, and the mark of a
// clean shutdown is only there if all that it vouches for is.
func TestManagerFaults(t *testing.T) {
	for nth := 0; ; nth++ {
		mem := foreignData(t)
		faulty := vfs.NewFaulty(mem)
		rule := faulty.Add(vfs.Rule{Op: vfs.ChangeOp | vfs.OpOpen | vfs.OpStat | vfs.OpReadDir, After: nth, Count: 1, Err: fs.ErrPermission})
		m, err := log.OpenManager(ctx, "data", onMem(faulty))
		if err == nil {
			if l, err := m.Create(ctx, fmt.Sprintf("n-%d", nth), log.TopicID{}); err == nil {
				_, _ = l.Append(rec("x"))
				_ = m.Delete(fmt.Sprintf("n-%d", nth))
			}
			err = m.Close()
			_, stat := mem.Stat("data/.kafka_cleanshutdown")
			if stat == nil {
				points := text(t, mem, "data/recovery-point-offset-checkpoint")
				require.Contains(t, points, "t 0 12\n", "call %d: %v", nth, err)
			}
		}
		faulty.Clear()
		if m != nil {
			_ = m.Close()
		}
		mem = mem.Crash(uint64(nth))
		m = manage(t, "data", onMem(mem))
		for _, name := range []string{"t-0", "u-0"} {
			require.Equal(t, int64(12), logOf(t, m, name).End())
			wantValues(t, logOf(t, m, name))
		}
		require.NoError(t, m.Close())
		if rule.Failed() == 0 {
			return
		}
	}
}

// What the directory says of itself and of a topic, when it cannot be read now,
// is not what is missing: the directory does not open, or the partition is set
// aside until Reopen.
func TestManagerUnreadableFiles(t *testing.T) {
	mem := foreignData(t)
	for _, name := range []string{"meta.properties", "log-start-offset-checkpoint", "partition.metadata"} {
		dir := "data/"
		if name == "partition.metadata" {
			dir = "data/t-0/"
		}
		write(t, mem, dir+name, sideFiles[dir+name])
	}
	for _, name := range []string{"meta.properties", "log-start-offset-checkpoint", "partition.metadata"} {
		for _, op := range []vfs.Op{vfs.OpOpen, vfs.OpReadAt} {
			f := vfs.NewFaulty(mem.Fork())
			f.Add(vfs.Rule{Op: op, Path: name, Err: syscall.EMFILE}) // of whichever partition
			o := onMem(mem)
			o.Log.Env.FS = f
			m, err := log.OpenManager(ctx, "data", o)
			if name != "partition.metadata" {
				require.ErrorIs(t, err, syscall.EMFILE)
				require.Empty(t, f.InUse())
				continue
			}
			require.NoError(t, err)
			_, err = m.Log("t-0")
			require.ErrorIs(t, err, syscall.EMFILE)
			f.Clear()
			_, err = m.Reopen(ctx, "t-0")
			require.NoError(t, err)
			require.Equal(t, "aMTWN8pvRGC82Gi3PLGhiA", m.Partitions()[0].TopicID.String())
			require.NoError(t, m.Close())
		}
	}
}
