//go:build !linux

package main

import "io"

// widenPipe has nothing to do where pipes have the size they have.
func widenPipe(io.Writer) {}
