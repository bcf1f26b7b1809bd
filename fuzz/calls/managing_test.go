package calls

import (
	"errors"
	"fmt"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

var topicID = log.TopicID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// broker is a broker's directory with two partitions, closed: live's and a
// small one.
var broker = stateOf(func() *vfs.Mem {
	w := newWorld(clean(), small())
	must(w.openManager())
	l := must1(w.man.Create(ctx, "orders-0", topicID))
	must1(l.AppendSync(ctx, rec("a", 1)))
	must(w.close())
	must(vfs.WriteFile(w.mem, top+"/"+kafkadir.MetaFile, []byte("version=1\nnode.id=3\ncluster.id=c\n")))
	return w.mem
})

// foreign is one that a broker has left: no file is ours, a log start is noted.
var foreign = stateOf(func() *vfs.Mem {
	m := broker().Fork()
	for _, d := range []string{dir, top + "/orders-0"} {
		remove(m, d, "seglog.checkpoint", "seglog.lock")
	}
	remove(m, top, "seglog.lock")
	must(kafkadir.WriteOffsets(m, top, kafkadir.LogStartFile, kafkadir.Offsets{"topic-0": 12}))
	return m
})

// deleting has a partition whose files are still to be unlinked.
func deleting(w *world) {
	must(w.openManager())
	must(w.man.Delete("orders-0"))
}

// aside has a partition that could not be opened.
func aside(w *world) {
	w.fs.Add(vfs.Rule{Op: vfs.OpLock, Path: log.LockName, After: 2, Count: 1, Err: errors.New("not now")})
	must(w.openManager())
	if err := w.setAside(); err == nil {
		panic("nothing is set aside")
	}
	w.fs.Clear()
}

func manager(name string, do func(w *world) (string, error)) scenario {
	return scenario{name: "manager " + name, state: broker, do: do, ready: func(w *world) { must(w.openManager()) }}
}

func create(w *world) (string, error) {
	_, err := w.man.Create(ctx, "new-0", topicID)
	return "", err
}

// createOrReopen is the way on after Create.
func createOrReopen(w *world) (string, error) {
	_, err := w.man.Create(ctx, "new-0", topicID)
	if errors.Is(err, log.ErrExists) {
		_, err = w.man.Reopen(ctx, "new-0")
	}
	return "", err
}

func remove1(w *world) (string, error) { return "", w.man.Delete("topic-0") }

// deleteAgain is the way on after Delete, which may have been done.
func deleteAgain(w *world) (string, error) {
	err := w.man.Delete("topic-0")
	if errors.Is(err, log.ErrNoPartition) {
		err = w.man.Checkpoint(ctx)
	}
	return "", err
}

var managers = []scenario{
	{name: "manager open/nothing", state: nothing, opens: true, do: openManager, again: (*world).reopenSetAside},
	{name: "manager open/closed", state: broker, opens: true, do: openManager, again: (*world).reopenSetAside},
	{name: "manager open/a broker's", state: foreign, opens: true, do: openManager, again: (*world).reopenSetAside},
	{name: "manager open/read-only", state: broker, opens: true, opts: mode(log.ReadOnly), do: openManager, again: (*world).reopenSetAside},
	manager("create", create),
	manager("delete", remove1),
	manager("checkpoint", func(w *world) (string, error) { return "", w.man.Checkpoint(ctx) }),
	manager("compact", func(w *world) (string, error) {
		_, err := w.man.Compact(ctx, "topic-0")
		return "", err
	}),
	manager("close", closing),
	manager("close/something deleted", closing),
	manager("reopen", func(w *world) (string, error) {
		for _, p := range w.man.Partitions() {
			if p.Err != nil {
				_, err := w.man.Reopen(ctx, p.Name)
				return "", err
			}
		}
		return "", nil
	}),
}

func openManager(w *world) (string, error) {
	err := w.openAll()
	if w.man == nil {
		return "", err
	}
	return fmt.Sprintf("%v %+v", w.man.Found().Clean, w.man.Found().Meta), err
}

func init() {
	for i := range managers {
		s := &managers[i]
		s.manager = true
		switch s.name {
		case "manager create":
			s.again = createOrReopen
		case "manager delete":
			s.again = deleteAgain
		case "manager compact":
			s.some, s.opts = true, compacting
		case "manager checkpoint":
			s.ready = func(w *world) {
				must(w.openManager())
				must1(must1(w.man.Log("topic-0")).Append(rec("k", 1)))
			}
		case "manager close/something deleted":
			s.ready = deleting
			s.closes = true
		case "manager close":
			s.closes = true
		case "manager reopen":
			s.ready = aside
		}
	}
}
