package power

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
)

// noteLost tells what a power cut took: what was there before it and is not now,
// by names and by sectors.
func (x *machine) noteLost() {
	if !x.verbose {
		return
	}
	before, after := allFiles(x.before, "/"), allFiles(x.image, "/")
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		b, had := before[name]
		a, has := after[name]
		switch {
		case !has:
			x.note("    lost: %s", name)
		case !had:
			x.note("    back: %s (%d bytes)", name, len(a))
		case !bytes.Equal(a, b):
			x.note("    %s: %s", name, differences(b, a))
		}
	}
}

// differences tells where two versions of a file differ.
func differences(before, after []byte) string {
	var parts []string
	if len(before) != len(after) {
		parts = append(parts, fmt.Sprintf("%d bytes, were %d", len(after), len(before)))
	}
	var sectors []string
	for from := 0; from < min(len(before), len(after)); from += vfs.SectorSize {
		end := from + vfs.SectorSize
		if !bytes.Equal(before[from:min(end, len(before))], after[from:min(end, len(after))]) {
			sectors = append(sectors, fmt.Sprint(from/vfs.SectorSize))
		}
	}
	if sectors != nil {
		parts = append(parts, "sectors not as they were: "+strings.Join(sectors, " "))
	}
	return strings.Join(parts, ", ")
}

// allFiles reads everything below a directory.
func allFiles(fsys vfs.FS, dir string) map[string][]byte {
	files := map[string][]byte{}
	entries, err := fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		files[dir] = []byte(err.Error())
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			maps.Copy(files, allFiles(fsys, name))
		} else if content, err := vfs.ReadFile(fsys, name); err == nil {
			files[name] = content
		}
	}
	return files
}
