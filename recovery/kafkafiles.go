package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
)

// logStartCheckpoint is the file in a Kafka broker's log directory, the parent
// of its partitions' directories, that says where logs start inside their
// first segment (KIP-107).
const logStartCheckpoint = "log-start-offset-checkpoint"

// kafkaLogStart is the log start offset that a Kafka broker noted for the
// partition in dir, 0 where it noted none. A file that cannot be read as one
// costs only that: the log then starts with its first segment, and note says so.
func kafkaLogStart(fsys vfs.FS, dir, note string) (int64, string) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, note
	}
	name := filepath.Join(filepath.Dir(abs), logStartCheckpoint)
	text, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, note
	}
	start := int64(0)
	if err == nil {
		start, err = parseLogStart(string(text), filepath.Base(abs))
	}
	if err != nil {
		return 0, strings.TrimPrefix(note+"; ", "; ") + fmt.Sprintf("%s is not believed: %v", name, err)
	}
	return start, note
}

// parseLogStart reads Kafka's checkpoint syntax: version 0, the number of
// entries, then "topic partition offset" a line, with any line end.
func parseLogStart(text, partition string) (int64, error) {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return 0, nil
	}
	if strings.TrimSpace(lines[0]) != "0" {
		return 0, fmt.Errorf("version %q, want 0", lines[0])
	}
	if len(lines) == 1 {
		return 0, nil
	}
	if n, err := strconv.Atoi(strings.TrimSpace(lines[1])); err != nil || n != len(lines)-2 {
		return 0, fmt.Errorf("%d entries where %q are promised", len(lines)-2, lines[1])
	}
	start := int64(0)
	for _, line := range lines[2:] {
		f := strings.Fields(line)
		if len(f) != 3 {
			return 0, fmt.Errorf("line %q", line)
		}
		offset, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil || offset < 0 {
			return 0, fmt.Errorf("line %q", line)
		}
		if f[0]+"-"+f[1] == partition {
			start = offset
		}
	}
	return start, nil
}
