package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// epochCheck holds the leader epochs of a segment's batches, which no checksum
// covers, against one another and against leader-epoch-checkpoint.
type epochCheck struct {
	history epochs.History
	start   int64 // of the log
	latest  int32
	err     error // the first that cannot be
}

// readEpochs is the history that the file has, empty if there is none to go by.
func (v *Verification) readEpochs(cfg *segment.Config) (h epochs.History, err error) {
	name := filepath.Join(cfg.Dir, epochs.FileName)
	text, err := vfs.ReadFile(cfg.FS, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h, nil
	case err != nil:
		return h, err
	}
	if h, err = epochs.Decode(text); err != nil {
		v.Notes = append(v.Notes, fmt.Sprintf("%s is not believed: %v", name, err))
		return epochs.History{}, nil
	}
	return h, nil
}

func (c *epochCheck) batch(h *record.BatchHeader, position int64) {
	if h.LeaderEpoch < 0 && h.LeaderEpoch != -1 {
		c.fault("leader epoch %d of the batch at position %d (offset %d)", h.LeaderEpoch, position, h.BaseOffset)
	}
	if h.LeaderEpoch < 0 || h.NextOffset() <= c.start {
		return
	}
	if h.LeaderEpoch < c.latest {
		c.fault("leader epoch %d of the batch at position %d (offset %d), but %d before it", h.LeaderEpoch, position, h.BaseOffset, c.latest)
	}
	c.latest = max(c.latest, h.LeaderEpoch)
	if noted := c.history.At(max(h.BaseOffset, c.start)); noted >= 0 && noted != h.LeaderEpoch {
		c.fault("leader epoch %d of the batch at position %d (offset %d), but %d in %s", h.LeaderEpoch, position, h.BaseOffset, noted, epochs.FileName)
	}
}

func (c *epochCheck) fault(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: "+format, append([]any{record.ErrCorrupt}, args...)...)
	}
}
