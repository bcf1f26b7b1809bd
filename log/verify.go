package log

import (
	"context"

	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// Verify walks every batch and record of the log in dir and holds checksums,
// indexes and seals against each other; see [recovery.Verify]. It takes no lock
// and writes nothing. progress, if not nil, is told bytes done and in all.
func Verify(ctx context.Context, dir string, o Options, progress func(done, total int64)) (*recovery.Verification, error) {
	return verify(ctx, dir, o, progress, recovery.Verify)
}

// VerifySeals is Verify that looks at a sealed segment no further if its seal
// holds, which takes a fraction of the time; see [recovery.VerifySeals].
func VerifySeals(ctx context.Context, dir string, o Options, progress func(done, total int64)) (*recovery.Verification, error) {
	return verify(ctx, dir, o, progress, recovery.VerifySeals)
}

func verify(ctx context.Context, dir string, o Options, progress func(done, total int64),
	f func(context.Context, *segment.Config, func(done, total int64)) (*recovery.Verification, error)) (*recovery.Verification, error) {
	o.Mode = ReadOnly
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return f(ctx, o.segmentConfig(dir), progress)
}
