//go:build unix

package vfs

import (
	"os"
	"syscall"
)

// Removed says whether no name leads to an open file any more: what is stored and
// synced in it is gone when it is closed. It is false where the system does not
// tell.
func Removed(f File) bool {
	switch f := f.(type) {
	case *faultyFile:
		return Removed(f.below)
	case *osFile:
		return nameless(f.f)
	}
	return false
}

func namelessByStat(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 0
}
