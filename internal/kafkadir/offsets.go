package kafkadir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
)

// The checkpoints' file names.
const (
	RecoveryPointFile = "recovery-point-offset-checkpoint"
	HighWatermarkFile = "replication-offset-checkpoint"
	LogStartFile      = "log-start-offset-checkpoint"
	CleanerFile       = "cleaner-offset-checkpoint"
)

// Offsets is a checkpoint: an offset for each of some partitions, by the name
// of the live directory.
type Offsets map[string]int64

// ReadOffsets reads the checkpoint of that name in a log directory. A missing
// one is empty.
func ReadOffsets(fsys vfs.FS, dir, name string) (Offsets, error) {
	text, err := vfs.ReadFile(fsys, filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return Offsets{}, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := DecodeOffsets(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
	}
	return o, nil
}

// WriteOffsets replaces the checkpoint of that name in a log directory.
func WriteOffsets(fsys vfs.FS, dir, name string, o Offsets) error {
	return vfs.WriteFile(fsys, filepath.Join(dir, name), o.Encode())
}

// DecodeOffsets reads a checkpoint's text.
func DecodeOffsets(text []byte) (Offsets, error) {
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return Offsets{}, nil
	}
	if v := strings.TrimSpace(lines[0]); v != "0" {
		return nil, fmt.Errorf("version %q, want 0", v)
	}
	if len(lines) == 1 {
		return Offsets{}, nil
	}
	if n, err := strconv.Atoi(strings.TrimSpace(lines[1])); err != nil || n != len(lines)-2 {
		return nil, fmt.Errorf("%d entries where %q are promised", len(lines)-2, lines[1])
	}
	o := make(Offsets, len(lines)-2)
	for _, line := range lines[2:] {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("line %q, want a topic, a number and an offset", line)
		}
		offset, err := strconv.ParseInt(f[2], 10, 64)
		if _, isNumber := strconv.ParseUint(f[1], 10, 31); err != nil || isNumber != nil || offset < 0 {
			return nil, fmt.Errorf("line %q, want a topic, a number and an offset", line)
		}
		o[f[0]+"-"+f[1]] = offset
	}
	return o, nil
}

// Encode is the checkpoint's text, in the order of names.
func (o Offsets) Encode() []byte {
	text := fmt.Appendf(nil, "0\n%d\n", len(o))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		dash := strings.LastIndexByte(name, '-')
		text = fmt.Appendf(text, "%s %s %d\n", name[:dash], name[dash+1:], o[name])
	}
	return text
}
