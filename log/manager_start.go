package log

import (
	"path/filepath"

	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
)

// notedStart is the log start offset that log-start-offset-checkpoint has of a
// partition.
type notedStart struct {
	offset int64
	// epoch says that leader-epoch-checkpoint begins there: whoever moves a log
	// start moves the epoch before it there, too.
	epoch bool
}

// notedStart reads what is noted of a partition before it is opened. That the
// epochs cannot be read now does not make them say something else.
func (m *Manager) notedStart(name string) (n notedStart, err error) {
	offset, ok := m.disk[logStart][name]
	if !ok || m.opts.Log.Mode == ReadOnly {
		return n, nil
	}
	n.offset = offset
	text, err := vfs.ReadFile(m.opts.Log.Env.FS, filepath.Join(m.dir, name, epochs.FileName))
	if vfs.Unreadable(err) {
		return n, err
	}
	h, err := epochs.Decode(text)
	if err != nil { // it says nothing
		return n, nil
	}
	if entries := h.Entries(); len(entries) > 0 {
		n.epoch = entries[0].Start == offset
	}
	return n, nil
}

// believes says whether a broker can have noted a log start above that of the
// log's own checkpoint. To obey deletes records, the file has no checksum, and
// the checkpoint, which contradicts it, has one (docs/decisions/0013).
func (m *Manager) believes(n notedStart, p *Partition) bool {
	switch {
	case p.Log.born.Foreign: // nothing contradicts it
		return true
	case m.closedHere: // nobody has had the directory since
	case m.found.Clean, n.epoch:
		return true
	}
	m.opts.Log.Logger.Warn("log: a log start is not believed, which nobody else in the directory bears out",
		"dir", p.Log.dir, "file", kafkadir.LogStartFile, "noted", n.offset, "start", p.Log.First())
	return false
}
