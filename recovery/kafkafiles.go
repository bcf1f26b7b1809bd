package recovery

import (
	"path/filepath"
	"strings"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
)

// kafkaOffset is the offset that a Kafka broker noted in a checkpoint of that
// name, in the log directory above, for the partition in dir: the log start
// (KIP-107), or the recovery point. It is 0 where it noted none. A file that says
// something else costs only that, and the note says so. One that cannot be read is an
// error, or records that were deleted would be back.
func kafkaOffset(fsys vfs.FS, dir, name string, note *string) (int64, error) {
	dir = filepath.Clean(dir)
	if last := filepath.Base(dir); last == "." || last == ".." { // which tells no name
		var err error
		if dir, err = filepath.Abs(dir); err != nil {
			return 0, err
		}
	}
	offsets, err := kafkadir.ReadOffsets(fsys, filepath.Dir(dir), name)
	if vfs.Unreadable(err) {
		return 0, err
	}
	if err != nil {
		*note = strings.TrimPrefix(*note+"; not believed: "+err.Error(), "; ")
		return 0, nil
	}
	return offsets[filepath.Base(dir)], nil
}
