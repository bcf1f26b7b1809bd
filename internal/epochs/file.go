package epochs

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// FileName is the file's name in a partition's directory.
const FileName = "leader-epoch-checkpoint"

// Encode is the file: version 0, the number of entries, and "epoch start" for
// each, a line each.
func (h *History) Encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "0\n%d\n", len(h.entries))
	for _, e := range h.entries {
		fmt.Fprintf(&b, "%d %d\n", e.Epoch, e.Start)
	}
	return b.Bytes()
}

// Decode reads the file, with any line ends. An empty file is an empty history.
func Decode(text []byte) (History, error) {
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return History{}, nil
	}
	if v := strings.TrimSpace(lines[0]); v != "0" {
		return History{}, fmt.Errorf("epochs: version %q, want 0", v)
	}
	if len(lines) == 1 {
		return History{}, nil
	}
	if n, err := strconv.Atoi(strings.TrimSpace(lines[1])); err != nil || n != len(lines)-2 {
		return History{}, fmt.Errorf("epochs: %d entries where %q are promised", len(lines)-2, lines[1])
	}
	var h History
	for _, line := range lines[2:] {
		e, err := decodeEntry(line)
		if err != nil {
			return History{}, err
		}
		if last, ok := h.Latest(); ok && (e.Epoch <= last.Epoch || e.Start <= last.Start) {
			return History{}, fmt.Errorf("epochs: entry %q does not ascend", line)
		}
		h.entries = append(h.entries, e)
	}
	return h, nil
}

func decodeEntry(line string) (e Entry, err error) {
	f := strings.Fields(line)
	if len(f) != 2 {
		return e, fmt.Errorf("epochs: line %q, want an epoch and an offset", line)
	}
	epoch, err := strconv.ParseInt(f[0], 10, 32)
	if err != nil || epoch < 0 {
		return e, fmt.Errorf("epochs: epoch %q", f[0])
	}
	e.Epoch = int32(epoch)
	e.Start, err = strconv.ParseInt(f[1], 10, 64)
	if err != nil || e.Start < 0 {
		return e, fmt.Errorf("epochs: offset %q", f[1])
	}
	return e, nil
}
