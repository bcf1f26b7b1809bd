package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal says whether a person sees what is written to w.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// regularSize is the size of the file that f is, false for pipes and devices.
func regularSize(f any) (int64, bool) {
	file, ok := f.(*os.File)
	if !ok {
		return 0, false
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

// redOn returns what makes a word red on w: nothing where w is no terminal or
// NO_COLOR is set (no-color.org).
func redOn(w io.Writer) func(string) string {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !isTerminal(w) {
		return func(s string) string { return s }
	}
	return func(s string) string { return "\x1b[31m" + s + "\x1b[0m" }
}
