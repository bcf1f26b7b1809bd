package log

import "errors"

// cut is one that is under way: what is noted of its log must be true before it and
// behind it, for after a crash it is obeyed.
type cut struct {
	l   *Log // nil: there is none
	to  int64
	all bool
}

// lower is an offset that is noted of a log.
func (c cut) lower(l *Log, offset int64) int64 {
	if l != c.l {
		return offset
	}
	return min(offset, c.to)
}

// drops says that a log is about to start anew.
func (c cut) drops(l *Log) bool { return l == c.l && c.all }

// cutting does a cut of a log of the Manager. Before it the notes that would
// not be true behind it are lowered: a log would start above what DropAll let it
// start at, and what is appended behind a cut would be taken for durable by a
// broker, and for compacted. Partitions are not made nor deleted meanwhile.
func (m *Manager) cutting(l *Log, to int64, all bool, do func() error) error {
	m.change.Lock()
	defer m.changed()
	end := l.End()
	switch {
	case m.writable() != nil, to < l.First() && !all:
		return do() // refuses
	case !all:
		to = min(to, end)
		if s := l.set.Load().floor(to, nil); s != nil && to < end {
			to = max(s.Base(), l.First()) // the batch that holds it begins in that segment
		}
	}
	m.cut = cut{l, to, all}
	err := m.lowerNotes()
	m.cut = cut{}
	if err != nil {
		return err
	}
	err = do()
	m.lowerAfter() // where compaction has left a gap it may end below that
	return err
}

// lowerAfter lowers what is noted of logs that were cut, in being opened say. They
// serve if that fails: it is tried again with the next change.
func (m *Manager) lowerAfter() {
	if m.opts.Log.Mode == ReadOnly {
		return
	}
	if err := m.lowerNotes(); err != nil {
		m.opts.Log.Logger.Warn("log: a note of what is durable could not be lowered", "dir", m.dir, "error", err)
	}
}

// lowerNotes writes those files that say more of a log than is true now, or
// than will be behind the cut that is under way.
func (m *Manager) lowerNotes() error {
	var lie [len(checkpointFiles)]bool
	for _, p := range m.Partitions() {
		if p.Log == nil {
			continue
		}
		end := m.cut.lower(p.Log, p.Log.End())
		lie[recoveryPoint] = lie[recoveryPoint] || m.disk[recoveryPoint][p.Name] > end
		lie[cleaned] = lie[cleaned] || m.disk[cleaned][p.Name] > end
		lie[logStart] = lie[logStart] || m.cut.drops(p.Log) && m.disk[logStart][p.Name] > 0
	}
	var errs []error
	for i, lies := range lie {
		if lies || m.unsure[i] && i != highWatermark {
			errs = append(errs, m.writeFiles(i))
		}
	}
	return errors.Join(errs...)
}
