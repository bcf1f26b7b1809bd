package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// What is taken out of a log is kept beside it, within bounds.
const (
	tornPrefix    = "seglog.torn-"
	damagedPrefix = "seglog.damaged-"

	maxKeptBytes = 16 << 20 // of one torn tail
	maxKeptFiles = 8        // of each kind; the oldest go
)

// aside is a name for what is taken out at an offset: not one that has something, or is
// about to have.
func (in *inspector) aside(prefix string, offset int64) string {
	first := fmt.Sprintf("%s%020d", prefix, offset)
	name := first
	for n := 2; ; n++ {
		_, taken := in.files[name]
		if !taken && !slices.ContainsFunc(in.r.Actions, func(a Action) bool { return a.To == name }) {
			return name
		}
		name = fmt.Sprintf("%s.%d", first, n)
	}
}

// keep writes bytes that are about to be cut. Trailing zeros are not worth it.
func keep(fsys vfs.FS, dir, name string, cut []byte, durably bool) error {
	cut = cut[:min(segment.DataEnd(cut), maxKeptBytes)]
	if len(cut) == 0 {
		return nil
	}
	name = filepath.Join(dir, name)
	if durably {
		return vfs.WriteFile(fsys, name, cut)
	}
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(cut, 0)
	return errors.Join(err, f.Close())
}

// pruneKept removes the oldest of what is kept beyond its bound.
func pruneKept(fsys vfs.FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, prefix := range []string{tornPrefix, damagedPrefix} {
		var kept []fs.FileInfo
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), prefix) {
				if info, err := fsys.Stat(filepath.Join(dir, e.Name())); err == nil {
					kept = append(kept, info)
				}
			}
		}
		sort.SliceStable(kept, func(i, j int) bool { return kept[i].ModTime().Before(kept[j].ModTime()) })
		for _, info := range kept[:max(len(kept)-maxKeptFiles, 0)] {
			errs = append(errs, fsys.Remove(filepath.Join(dir, info.Name())))
		}
	}
	return errors.Join(errs...)
}
