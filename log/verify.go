package log

import (
	"context"

	"github.com/seglog/seglog/recovery"
)

// Verify walks every batch and record of the log in dir and holds checksums,
// indexes and seals against each other; see [recovery.Verify]. It takes no lock
// and writes nothing. progress, if not nil, is told bytes done and in all.
func Verify(ctx context.Context, dir string, o Options, progress func(done, total int64)) (*recovery.Verification, error) {
	o.Mode = ReadOnly
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return recovery.Verify(ctx, o.segmentConfig(dir), progress)
}
