package main

import (
	"errors"

	"golang.org/x/sys/windows"
)

// brokenPipe says that a write failed since nobody reads any more.
func brokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
