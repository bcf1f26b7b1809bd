//go:build !windows

package main

import (
	"errors"
	"syscall"
)

// brokenPipe says that a write failed since nobody reads any more.
func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
