package log

import (
	"context"

	"github.com/seglog/seglog/retention/compact"
)

// Compact compacts the log of that name, as Log.Compact does, and keeps where
// the next call has to begin in the file that a broker keeps it in: also when
// the directory is opened again only what was appended since is read.
func (m *Manager) Compact(ctx context.Context, name string, o compact.Options) (compact.Result, error) {
	l, err := m.Log(name)
	if err != nil {
		return compact.Result{}, err
	}
	m.change.Lock()
	if known := m.disk[cleaned][name]; known <= l.End() { // or the log was cut since
		o.FirstDirty = max(o.FirstDirty, known)
	}
	m.change.Unlock()
	result, err := l.Compact(ctx, o)
	if err != nil {
		return result, err
	}
	m.change.Lock()
	defer m.change.Unlock()
	if now, err := m.Log(name); err != nil || now != l {
		return result, nil // deleted or closed in the meantime
	}
	m.firstDirty[name] = result.FirstDirty
	return result, m.writeFiles(cleaned)
}
