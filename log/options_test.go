package log_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func TestZeroOptions(t *testing.T) {
	l := open(t, t.TempDir(), log.Options{})
	fill(t, l, 3)
	wantValues(t, l)
}

func TestOptionsRefused(t *testing.T) {
	for name, o := range map[string]log.Options{
		"segment smaller than a batch": {SegmentBytes: 60},
		"segment negative":             {SegmentBytes: -1},
		"segment of 2 GiB":             {SegmentBytes: 1 << 31},
		"age":                          {SegmentAge: -time.Second},
		"interval":                     {IndexInterval: -1},
		"batch":                        {MaxBatchBytes: -1},
		"mapped":                       {MappedSegments: -1},
		"mode":                         {Mode: 4},
		"mode negative":                {Mode: -1},
		"codec":                        {Compression: 5},
		"codec negative":               {Compression: -1},
		"timestamp type":               {TimestampType: 2},
	} {
		t.Run(name, func(t *testing.T) {
			faulty := vfs.NewFaulty(vfs.NewMem())
			o.Env.FS = faulty
			l, err := log.Open(ctx, "log", o)
			if assert.Error(t, err) {
				assert.Zero(t, faulty.Calls(vfs.AnyOp), "nothing is touched")
				return
			}
			_ = l.Close()
		})
	}
	_, err := log.Open(ctx, "log", log.Options{SegmentBytes: record.HeaderSize, Env: log.Env{FS: vfs.NewMem()}})
	assert.NoError(t, err)
}

// TestSettingsMayChange between one open and the next, after a kill as well,
// and with indexes gone.
func TestSettingsMayChange(t *testing.T) {
	for _, lose := range []bool{false, true} {
		mem := vfs.NewMem()
		for i, o := range []log.Options{
			{SegmentBytes: 60 << 10, IndexInterval: 1},
			{SegmentBytes: 1 << 10, IndexInterval: 1},
			{SegmentBytes: 8 << 10, IndexInterval: 4096, Compression: record.Zstd, TimestampType: record.LogAppendTime},
			{SegmentBytes: 300, IndexInterval: 10, Compression: record.Snappy},
			{SegmentBytes: 60 << 10},
		} {
			o.Env.FS = mem
			l := open(t, "log", o)
			wantValues(t, l)
			fill(t, l, 50)
			wantValues(t, l)
			if i%2 == 0 {
				mem = mem.Kill()
			}
			_ = l.Close()
			if lose {
				for _, name := range names(t, mem, "log") {
					if len(name) > 25 { // .index and .timeindex
						assert.NoError(t, mem.Remove("log/"+name))
					}
				}
			}
		}
	}
}
