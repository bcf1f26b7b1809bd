package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
)

// What is taken out of a log is kept beside it, within bounds.
const (
	tornPrefix    = "seglog.torn-"
	damagedPrefix = "seglog.damaged-"

	maxKeptBytes = 16 << 20 // of one torn tail
	maxKeptFiles = 8        // of each kind; the oldest go
)

func tornName(offset int64) string    { return fmt.Sprintf("%s%020d", tornPrefix, offset) }
func damagedName(offset int64) string { return fmt.Sprintf("%s%020d", damagedPrefix, offset) }

// keep writes bytes that are about to be cut. Trailing zeros are not worth it.
func keep(fsys vfs.FS, dir, name string, cut []byte) error {
	cut = cut[:min(lastNonZero(cut), maxKeptBytes)]
	if len(cut) == 0 {
		return nil
	}
	return vfs.WriteFile(fsys, filepath.Join(dir, name), cut)
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
