package power

import (
	"fmt"
	"io/fs"

	"github.com/seglog/seglog/internal/vfs"
)

// Lie is a way in which a file system breaks its promises, which the campaign
// has to notice. "" is none.
type Lie string

// The lies.
const (
	LieSync  Lie = "sync"  // contents are not made durable
	LieNames Lie = "names" // names are not made durable
)

// ParseLie is the lie of that name.
func ParseLie(name string) (Lie, error) {
	switch l := Lie(name); l {
	case "", LieSync, LieNames:
		return l, nil
	}
	return "", fmt.Errorf("lie %q, want %s or %s", name, LieSync, LieNames)
}

func (l Lie) over(below vfs.FS) vfs.FS {
	if l == "" {
		return below
	}
	return lying{below, l}
}

type lying struct {
	vfs.FS
	lie Lie
}

func (l lying) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := l.FS.OpenFile(name, flag, perm)
	if err != nil || l.lie != LieSync {
		return f, err
	}
	return lyingFile{f}, nil
}

func (l lying) SyncDir(name string) error {
	if l.lie == LieNames {
		return nil
	}
	return l.FS.SyncDir(name)
}

type lyingFile struct{ vfs.File }

func (lyingFile) Sync() error { return nil }
