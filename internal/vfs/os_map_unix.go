//go:build unix

package vfs

import (
	"io"
	"os"
)

// mapSource is the file to map: f itself, since a mapping outlives it here.
func mapSource(f *os.File) (*os.File, io.Closer, error) { return f, nothing{}, nil }

type nothing struct{}

func (nothing) Close() error { return nil }

// CutsMapped says that a file may be cut while it is mapped.
const CutsMapped = true
