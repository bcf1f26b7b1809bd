package power

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention/compact"
)

// root is the directory of the logs, in one that is made with it.
const root = "disk/data"

// many is what there is of a machine with several logs: the directory of a
// Manager.
type many struct {
	manager  *log.Manager
	making   *part           // by Create, now
	deleting *part           // by Delete, now
	gone     map[string]bool // names of what was deleted once
	sick     string          // a directory whose files cannot be opened nor synced
	halts    bool            // the machine is stopped after this operation
	number   int             // of the present step
	fresh    bool            // the manager was opened, and nothing done since
}

// managing are the operations of a Manager.
var managing = []op{
	{"create", 12, 40, func(x *machine) bool { return len(x.parts) < len(names) }, (*machine).create},
	{"delete", 4, 40, some, (*machine).deletePart},
	{"manager checkpoint", 8, 40, some, (*machine).checkpointAll},
	{"close and open", 5, 80, some, (*machine).reopen},
	{"one is set aside", 2, 60, some, (*machine).setAside},
	{"one fails", 2, 30, some, (*machine).fails},
}

var names = []string{"a-0", "a-1", "b-0"}

func some(x *machine) bool { return len(x.parts) > 0 }

// choose chooses the log that the operation is about, and the operation.
func (x *machine) choose(s Step) op {
	if alone(x) {
		return x.pick(allOperations, x.m.end-x.m.first > 70)
	}
	x.part = nil
	if len(x.parts) > 0 {
		x.part = x.parts[x.r.IntN(len(x.parts))]
	}
	if len(x.parts) == 0 || x.r.IntN(6) == 0 {
		x.number = s.Number
		return x.pick(managing, false)
	}
	return x.pick(allOperations, x.m.end-x.m.first > 70)
}

func (x *machine) managerOptions(fsys vfs.FS) log.ManagerOptions {
	o := log.ManagerOptions{Parallel: 1, Each: func(name string, o log.Options) log.Options {
		if p := x.named(name); p != nil {
			return p.set.log
		}
		return o
	}}
	o.Log.Env = log.Env{FS: fsys, Now: x.clock}
	o.Log.MappedSegments = 2
	return o
}

// named is the partition of that name, be it one that is being made.
func (x *machine) named(name string) *part {
	for _, p := range append(slices.Clone(x.parts), x.making) {
		if p != nil && p.name == name {
			return p
		}
	}
	return nil
}

// create makes a partition, of a name that there was before, perhaps: until a
// moment ago, it may be.
func (x *machine) create() {
	name := names[x.r.IntN(len(names))]
	if p := x.named(name); p != nil {
		if _, err := x.manager.Create(ctx, name, log.TopicID{}); !errors.Is(err, log.ErrExists) {
			x.failf("creating %s, which is there: %v", name, err)
		}
		if x.r.IntN(2) == 0 {
			return
		}
		x.part = p
		x.note("  in the place of %s, [%d, %d)", name, p.m.first, p.m.end)
		fuse := x.fuse
		if x.r.IntN(2) == 0 { // what is stopped is the creation
			x.fuse = fuseOut
		}
		x.deletePart()
		if x.image != nil {
			return
		}
		if fuse.left > 0 && x.fuse.left == 0 {
			x.fuse = fuse
		}
	}
	p := x.newPart(name, x.plan.stream(settingsStream+1+uint64(x.number)))
	p.dir = filepath.Join(root, name)
	p.id = log.TopicID{0: byte(1 + x.r.IntN(255)), 15: byte(x.r.IntN(256))}
	x.making = p
	l, err := x.manager.Create(ctx, name, p.id)
	if x.image != nil {
		return
	}
	x.must(err, "Create")
	p.l, x.making = l, nil
	x.parts = append(x.parts, p)
	x.takeStock()
	if r := l.Recovery(); l.End() != 0 || len(r.Actions) > 0 {
		x.failf("the new %s is [%d, %d): %v", name, l.First(), l.End(), r.Actions)
	}
	x.files()
}

func (x *machine) deletePart() {
	x.release()
	p := x.part
	x.deleting = p
	err := x.manager.Delete(p.name)
	if x.image != nil {
		return
	}
	x.must(err, "Delete")
	x.gone[p.name] = true
	x.parts = slices.DeleteFunc(x.parts, func(q *part) bool { return q == p })
	x.part, x.deleting = nil, nil
	x.takeStock()
}

func (x *machine) checkpointAll() {
	err := x.manager.Checkpoint(ctx)
	if x.image != nil {
		return
	}
	x.must(err, "Checkpoint of the manager")
	x.each(func() {
		x.synced()
		x.noted()
	})
	x.files()
}

// closeManager is Close, behind which of what was deleted nothing is left.
func (x *machine) closeManager() error {
	err := x.manager.Close()
	if x.image != nil || err != nil {
		return err
	}
	entries, err := x.mem.ReadDir(root)
	x.must(err, "listing")
	for _, e := range entries {
		if e.IsDir() && x.named(e.Name()) == nil {
			x.failf("%s is there after Close", e.Name())
		}
	}
	return nil
}

func (x *machine) compactLog() (compact.Result, error) {
	if alone(x) || x.r.IntN(2) == 0 {
		return x.l.Compact(ctx)
	}
	return x.manager.Compact(ctx, x.name)
}

// takeStock holds the partitions that a manager has against those that there
// must be, and takes their logs.
func (x *machine) takeStock() {
	if alone(x) {
		return
	}
	var found []*part
	for _, have := range x.manager.Partitions() {
		live := kafkadir.Name{Topic: have.Topic, Partition: have.Number}.Live()
		if have.State != log.PartitionLive {
			if have.State != log.PartitionDeleted || !x.gone[live] && (x.deleting == nil || x.deleting.name != live) {
				x.failf("%s is there, and was not deleted", have.Name)
			}
			continue
		}
		p := x.named(have.Name)
		switch {
		case p == nil:
			x.failf("%s is there, deleted %t", have.Name, x.gone[live])
		case have.Err != nil:
			x.failf("%s: %v", have.Name, have.Err)
		case have.TopicID != p.id && (p != x.making || have.TopicID != log.TopicID{}):
			x.failf("%s has topic id %v, want %v", have.Name, have.TopicID, p.id)
		}
		p.l, p.id = have.Log, have.TopicID
		found = append(found, p)
	}
	for _, p := range x.parts {
		if !slices.Contains(found, p) {
			if p != x.deleting {
				x.failf("%s is not there", p.name)
			}
			x.gone[p.name] = true
		}
	}
	x.parts, x.making, x.deleting = found, nil, nil
}

// files holds what the directory's files tell brokers against the logs: below a
// recovery point a broker looks at nothing, and where the mark of a clean shutdown
// is it looks at nothing at all.
func (x *machine) files() {
	if alone(x) {
		return
	}
	noted := map[string]kafkadir.Offsets{}
	for _, name := range []string{kafkadir.RecoveryPointFile, kafkadir.LogStartFile, kafkadir.CleanerFile} {
		var err error
		noted[name], err = kafkadir.ReadOffsets(x.mem, root, name)
		x.must(err, "reading "+name)
	}
	x.each(func() {
		point, start, cleaned := noted[kafkadir.RecoveryPointFile][x.name], noted[kafkadir.LogStartFile][x.name], noted[kafkadir.CleanerFile][x.name]
		clean := x.manager.Found().Clean && x.fresh
		switch {
		case clean && (!closed(x.l.Recovery()) || point != x.l.End()):
			x.failf("the directory was closed, and %s was not: recovery point %d, %v", x.name, point, x.l.Recovery())
		case point > x.m.durable:
			x.failf("the recovery point of %s is %d, durable is %d", x.name, point, x.m.durable)
		case start > x.l.First() || cleaned > x.l.End():
			x.failf("%s is [%d, %d), and noted that it starts at %d and was compacted up to %d", x.name, x.l.First(), x.l.End(), start, cleaned)
		}
	})
}

// closed says whether a log was closed. A power cut may bring a file back that was
// unlinked then, which does no harm.
func closed(r *recovery.Report) bool {
	harmful := slices.ContainsFunc(r.Actions, func(a recovery.Action) bool { return a.Kind != recovery.Remove || !a.Later })
	return r.Checkpoint != nil && r.Checkpoint.Clean && !harmful && r.ScannedBatches == 0
}

// setAside opens the directory while a partition cannot be read: the others
// serve, and that one does when it can be read again.
func (x *machine) setAside() {
	p := x.part
	x.close()
	if x.image != nil {
		return
	}
	fuse, back := x.fuse, x.back
	x.fuse, x.back = fuseOut, writebackOut
	x.sick = p.dir
	x.must(x.start(), "Open beside "+p.name+", which cannot be read")
	if _, err := x.manager.Log(p.name); !errors.Is(err, syscall.EIO) {
		x.failf("%s cannot be read, and its log is had with %v", p.name, err)
	}
	x.each(func() {
		if x.part != p {
			l, err := x.manager.Log(x.name)
			x.must(err, x.name+" beside "+p.name)
			x.l = l
			x.cutToMark()
			x.markRestarted()
			x.check()
			x.append(true)
		}
	})
	x.sick, x.fuse, x.back = "", fuse, back
	l, err := x.manager.Reopen(ctx, p.name)
	if x.image != nil {
		return
	}
	x.must(err, "Reopen")
	p.l = l
	x.takeStock()
	x.cutToMark()
	x.markRestarted()
	x.check()
}

// fails lets the files of a log not be synced any more: it fails, and the
// others go on, be it to a Close that cannot vouch for all.
func (x *machine) fails() {
	p := x.part
	x.append(false)
	if x.image != nil || p.l.Durable() == p.l.End() {
		return
	}
	x.sick, x.halts = p.dir, true
	if err := p.l.Sync(ctx); err == nil && x.image == nil {
		x.failf("Sync of %s, whose files cannot be synced, fails with nothing", p.name)
	}
	x.each(func() {
		if x.part != p && x.image == nil {
			x.append(true)
		}
	})
	if x.image == nil && x.r.IntN(2) == 0 {
		_ = x.manager.Close()
	}
}

// sickly is a file system that knows a sick directory.
type sickly struct {
	vfs.FS
	x *machine
}

func (s sickly) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if err := s.x.ails("open", name); err != nil {
		return nil, err
	}
	f, err := s.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return sicklyFile{f, s.x, name}, nil
}

type sicklyFile struct {
	vfs.File
	x    *machine
	name string
}

func (f sicklyFile) Sync() error {
	if err := f.x.ails("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// ails is the error that a call for a file in the sick directory has.
func (x *machine) ails(op, name string) error {
	if x.sick == "" || filepath.Dir(name) != x.sick {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: syscall.EIO}
}
