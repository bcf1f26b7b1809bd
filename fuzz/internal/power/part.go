package power

import (
	"fmt"
	"math/rand/v2"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// part is one log of a machine.
type part struct {
	name string // in a Manager
	dir  string
	id   log.TopicID
	set  settings
	l    *log.Log
	m    *model
	fly  fly // what the present operation may change

	held        []*log.View
	floor       int64             // of the retention policy
	leaderEpoch int32             // that a follower's leader is in
	left        map[string][]byte // the logs of its segments before an open
}

// newPart is a log that is still to be made.
func (x *machine) newPart(name string, r *rand.Rand) *part {
	p := &part{name: name, m: &model{hws: []int64{0}}}
	x.settle(p, r)
	return p
}

// each does something to each log.
func (x *machine) each(do func()) {
	defer func(p *part) { x.part = p }(x.part)
	for _, p := range x.parts {
		x.part = p
		do()
	}
}

// called is which log it is, where there are several.
func (x *machine) called() string {
	if alone(x) {
		return ""
	}
	return " " + x.name
}

func (p *part) state() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(", %s durable %d of [%d, %d)", p.name, p.m.durable, p.m.first, p.m.end)
}

// optionsOn are the settings of the log on a file system.
func (p *part) optionsOn(fsys vfs.FS) log.Options {
	o := p.set.log
	o.Env.FS = fsys
	return o
}

// start opens what is there.
func (x *machine) start() error {
	m, logs, err := x.openAll(x.fs, false)
	x.manager, x.fresh = m, true
	if m == nil && err == nil {
		x.l = logs[x.name]
	}
	return err
}

// openAll opens what is there on a file system, with the logs by their names.
func (x *machine) openAll(fsys vfs.FS, readOnly bool) (*log.Manager, map[string]*log.Log, error) {
	x.stats.Opens++
	if alone(x) {
		o := x.optionsOn(fsys)
		if readOnly {
			o.Mode = log.ReadOnly
		}
		l, err := log.Open(ctx, x.dir, o)
		return nil, map[string]*log.Log{x.name: l}, err
	}
	o := x.managerOptions(fsys)
	if readOnly {
		o.Log.Mode = log.ReadOnly
	}
	m, err := log.OpenManager(ctx, root, o)
	logs := map[string]*log.Log{}
	if err == nil {
		for name, l := range m.Logs() {
			logs[name] = l
		}
	}
	return m, logs, err
}

// closeAll is Close.
func (x *machine) closeAll() error {
	if alone(x) {
		return x.l.Close()
	}
	return x.closeManager()
}
