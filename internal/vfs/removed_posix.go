//go:build unix && !linux

package vfs

import "os"

func nameless(f *os.File) bool { return namelessByStat(f) }
