package main

import (
	"io"
	"sync"

	"github.com/seglog/seglog/log"
)

// scanning shows how far the verifying of logs is that comes before they can be
// told of. Logs may be opened by several goroutines.
type scanning struct {
	stderr io.Writer
	total  int64 // bytes there are; less may have to be verified

	mu struct {
		sync.Mutex
		done  int64
		shown *progress
	}
}

// trace is for the logs that are opened.
func (s *scanning) trace() log.Trace { return log.Trace{Scanned: s.add} }

func (s *scanning) add(e log.ScanEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.done == 0 {
		s.mu.shown = newProgress(s.stderr, "verifying", bytesOf, s.total)
	}
	s.mu.done += e.Bytes
	s.mu.shown.set(min(s.mu.done, s.total))
}

// end takes the progress off the terminal.
func (s *scanning) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.shown.end()
}
