package recovery

import (
	"path/filepath"
	"strings"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
)

// kafkaLogStart is the log start offset that a Kafka broker noted, in the log
// directory above, for the partition in dir (KIP-107): 0 where it noted none. A
// file that cannot be read as one costs only that: the log then starts with its
// first segment, and note says so.
func kafkaLogStart(fsys vfs.FS, dir, note string) (int64, string) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, note
	}
	starts, err := kafkadir.ReadOffsets(fsys, filepath.Dir(abs), kafkadir.LogStartFile)
	if err != nil {
		return 0, strings.TrimPrefix(note+"; not believed: "+err.Error(), "; ")
	}
	return starts[filepath.Base(abs)], note
}
