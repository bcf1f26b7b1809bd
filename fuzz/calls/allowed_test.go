package calls

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// allowance says of some calls what their failure may come to, and why.
type allowance struct {
	scenarios string // their names begin so; several are separated by "|", "" is any
	ops       vfs.Op
	path      string // pattern of the file's name
	full      bool   // only if the error is that there is no room
	early     bool   // only if the file ends early
	why       string
	used      bool
}

// failure is a call that failed, and the file it was about: that of a SyncDir
// behind a rename is the one renamed.
type failure struct {
	vfs.Call
	subject string
}

func (a *allowance) covers(s *scenario, f failure) bool {
	ok, _ := filepath.Match(a.path, filepath.Base(f.subject))
	ok = ok && a.ops&f.Op != 0 && (!a.full || vfs.IsFull(f.Err)) && (!a.early || f.Err == io.EOF) &&
		slices.ContainsFunc(strings.Split(a.scenarios, "|"), func(name string) bool { return strings.HasPrefix(s.name, name) })
	if ok {
		a.used = true
	}
	return ok
}

const (
	reading     = vfs.OpOpen | vfs.OpSize | vfs.OpReadAt | vfs.OpMap
	replacement = vfs.OpCreate | vfs.OpWriteAt | vfs.OpSync | vfs.OpClose | vfs.OpRename | vfs.OpSyncDir
)

// absorbed are the calls that may fail without the operation's saying so. What
// they were to do is done later: each such run ends with the same files as one
// without a fault, but for those that keep bytes aside.
var absorbed = []*allowance{
	{ops: vfs.OpClose, path: "*.log", why: "it was opened to be mapped, or is synced: closing loses nothing"},
	{ops: vfs.OpClose, path: "*index", why: "it was opened to be mapped, or is synced through another descriptor"},
	{ops: vfs.OpClose, path: "*.snapshot", why: "it was read, or is not believed"},
	{ops: vfs.OpUnmap, path: "*", why: "a reader that lets go of memory can do nothing about it; the Logger is told"},
	{ops: reading, path: "*.index", why: "an index that cannot be read is derived"},
	{ops: reading, path: "*.timeindex", why: "an index that cannot be read is derived"},
	{ops: replacement, path: "*.index.tmp", why: "a derived index serves from memory, and is derived again"},
	{ops: replacement, path: "*.timeindex.tmp", why: "a derived index serves from memory, and is derived again"},
	{ops: replacement, path: "*.index", why: "a derived index serves from memory, and is derived again"},
	{ops: replacement, path: "*.timeindex", why: "a derived index serves from memory, and is derived again"},
	{ops: vfs.OpRemove, path: "*.tmp", why: "what a replacement that failed left is removed by the next open, or goes with the next replacement"},
	{ops: vfs.OpRemove, path: "*index", why: "an index that is not the log's is derived again by whoever meets it"},
	{ops: vfs.OpAllocate, path: "*index", full: true, scenarios: "open|manager open|manager reopen|manager create|drop from", why: "an index without room serves from memory until the log is opened again"},
	{ops: vfs.OpAllocate, path: "*", full: true, scenarios: "append|end a|drop|open|manager create|retain|maintain/retain", why: "where a whole step has no room, what is needed may have"},

	{ops: reading | vfs.OpClose | vfs.OpStat, path: "leader-epoch-checkpoint", why: "it was only to be compared; it is written anew"},
	{ops: replacement, path: "leader-epoch-checkpoint*", scenarios: "open|manager open|manager reopen|manager create|drop|retain|maintain/retain", why: "it is written before the next append"},
	{ops: reading | replacement | vfs.OpRemove, path: "*.txnindex*", scenarios: "open|manager open|manager reopen|drop|end a", why: "it is written by the next checkpoint"},
	{ops: vfs.OpReadDir, path: "*", scenarios: "open|manager open|manager reopen|manager create|drop", why: "transaction indexes that are to be compared are by the next checkpoint"},
	{ops: vfs.OpRemove, path: "*.snapshot", scenarios: "append|sync|checkpoint|close|set|drop|compact|manager|retain|maintain", why: "a snapshot that no checkpoint refers to is removed by the next one"},

	{ops: replacement, path: "seglog.torn-*", why: "bytes taken out are kept if that can be, and are no part of the log"},
	{ops: replacement, path: "seglog.damaged-*", why: "bytes taken out are kept if that can be, and are no part of the log"},
	{ops: vfs.OpStat, path: "seglog.*-*", why: "how many are kept is looked at again by the next recovery"},
	{ops: vfs.OpRemove, path: "*.deleted", scenarios: "open", why: "it is of no use, and removed by a later open"},
	{ops: vfs.OpRemove, path: "*.tmp", scenarios: "open", why: "it is of no use, and removed by a later open"},
	{ops: vfs.OpRemove, path: "*", scenarios: "open/a DropBefore half done", why: "a segment below the log start is removed by a later open or drop"},

	{ops: replacement, path: "seglog.checkpoint*", full: true, scenarios: "drop before|retain|maintain/retain|manager open/a broker", why: "dropping makes the room: the checkpoint is written after it"},
	{ops: replacement, path: "*.snapshot*", full: true, scenarios: "drop before|retain|maintain/retain|manager open/a broker", why: "dropping makes the room: what is dropped need not be durable"},
	{ops: reading, path: "*.log", full: true, scenarios: "drop before|retain|maintain/retain|manager open/a broker", why: "dropping makes the room: what is dropped need not be durable"},
	{ops: vfs.OpStat | reading | vfs.OpClose, path: "seglog.checkpoint", scenarios: "open read-only|manager open/read-only|refresh|tail|from|close", why: "a reader beside a writer looks again"},
	{ops: vfs.OpReadAt, path: "*", early: true, scenarios: "open read-only|manager open/read-only|refresh|tail|from|close", why: "a file that is cut while it is read is read again"},
	{ops: vfs.OpRemove | vfs.OpReadDir | vfs.OpSyncDir, path: "*", scenarios: "manager delete", why: "what was deleted is unlinked by Maintain or Close"},
	{ops: vfs.OpClose, path: log.LockName, scenarios: "manager delete", why: "the log is not wanted any more, and its lock is given up all the same"},
	{ops: reading, path: "*.log", scenarios: "close", why: "a seal that could not be computed is by the next Checkpoint"},
}

// finals are the calls, beside those that sync, after which a log has to be
// opened again.
var finals = []*allowance{
	{ops: vfs.AnyOp, path: "*", scenarios: "drop from|drop all|open as a follower/beyond", why: "files were being cut: opening finishes that"},
	{ops: vfs.AnyOp, path: "*", scenarios: "compact|manager compact|maintain/compact", why: "files were being exchanged: opening finishes that"},
}

func absorbable(s *scenario, f failure) bool {
	for _, a := range absorbed {
		if a.covers(s, f) {
			return true
		}
	}
	return false
}

func final(s *scenario, f failure) bool {
	if f.Op&(vfs.OpSync|vfs.OpSyncDir) != 0 {
		return true
	}
	for _, a := range finals {
		if a.covers(s, f) {
			return true
		}
	}
	return false
}

// refused are what a log that failed answers ErrFailed to.
var refused = map[string]func(l *log.Log) error{
	"Append":     func(l *log.Log) error { _, err := l.Append(rec("x", 1)); return err },
	"AppendSync": func(l *log.Log) error { _, err := l.AppendSync(ctx, rec("x", 1)); return err },
	"AppendBatch": func(l *log.Log) error {
		_, err := l.AppendBatch(encode(record.BatchOptions{LeaderEpoch: -1}, rec("x", 1)), log.FromClient)
		return err
	},
	"EndTransaction":   func(l *log.Log) error { _, err := l.EndTransaction(log.EndTxn{ProducerID: 99}); return err },
	"Sync":             func(l *log.Log) error { return l.Sync(ctx) },
	"Checkpoint":       func(l *log.Log) error { return l.Checkpoint(ctx) },
	"SetLeaderEpoch":   func(l *log.Log) error { return l.SetLeaderEpoch(77) },
	"SetHighWatermark": func(l *log.Log) error { return l.SetHighWatermark(0) },
	"DropBefore":       func(l *log.Log) error { return l.DropBefore(l.First()) },
	"DropFrom":         func(l *log.Log) error { return l.DropFrom(l.End()) },
}
