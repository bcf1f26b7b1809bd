package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seglog/seglog/retention/compact"
)

// Compact compacts the log of that name, as Log.Compact does, and notes how far
// it came in the file that brokers keep it in.
func (m *Manager) Compact(ctx context.Context, name string) (compact.Result, error) {
	l, err := m.Log(name)
	if err != nil {
		return compact.Result{}, err
	}
	result, err := l.Compact(ctx)
	return result, errors.Join(err, m.noteCleaned())
}

func (m *Manager) noteCleaned() error {
	m.change.Lock()
	defer m.changed()
	if m.writable() != nil { // Close has noted it
		return nil
	}
	return m.writeFiles(cleaned)
}

// compactDue compacts the logs that are due, the one with the largest dirty
// ratio first. One that fails does not keep the others from it.
func (m *Manager) compactDue(ctx context.Context) error {
	type due struct {
		name  string
		l     *Log
		ratio float64
	}
	var list []due
	var errs []error
	for name, l := range m.Logs() {
		plan, err := l.Dirty()
		if errors.Is(err, ErrNotCompacted) {
			continue
		}
		if errs = append(errs, err); plan.Due {
			list = append(list, due{name, l, plan.Ratio()})
		}
	}
	slices.SortStableFunc(list, func(a, b due) int { return cmp.Compare(b.ratio, a.ratio) })
	for _, d := range list {
		if ctx.Err() != nil {
			break
		}
		if _, err := d.l.Compact(ctx); err != nil && !errors.Is(err, ErrClosed) { // or it was deleted in the meantime
			errs = append(errs, fmt.Errorf("compacting %s: %w", d.name, err))
		}
		errs = append(errs, m.noteCleaned())
	}
	return errors.Join(errs...)
}

// believe takes in what a broker's file says of how far the log was compacted,
// of a log that has a checkpoint of its own: it can only be a reason to think
// that it was less. Of others recovery knows.
func (c *compaction) believe(noted int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.cleaned, c.mu.noted = min(c.mu.cleaned, noted), max(c.mu.noted, noted)
}
