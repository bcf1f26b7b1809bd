package log

import (
	"context"

	"github.com/seglog/seglog/recovery"
)

// Inspect tells what Open with these options would find in dir and do to it, its
// Actions, and with Mode Repair what would be lost by that, its Damage. It takes
// no lock and changes nothing; beside a process that writes it may see what is
// half written.
func Inspect(ctx context.Context, dir string, o Options) (*recovery.Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return recovery.Inspect(ctx, o.segmentConfig(dir), recovery.Options{Repair: o.Mode == Repair})
}
