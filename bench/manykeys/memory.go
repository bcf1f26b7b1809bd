package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// memory is the most there was, sampled.
type memory struct {
	heap uint64 // live and not yet collected objects
	anon uint64 // resident, of no file; 0 where the host does not tell
	file uint64 // resident, of mapped files, which the kernel takes back as it likes
	done chan chan memory
}

// watchMemory begins to look, after a collection.
func watchMemory() *memory {
	debug.FreeOSMemory()
	m := &memory{done: make(chan chan memory)}
	go m.watch()
	return m
}

func (m *memory) watch() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		m.sample()
		select {
		case <-tick.C:
		case to := <-m.done:
			m.sample()
			to <- *m
			return
		}
	}
}

func (m *memory) stop() memory {
	to := make(chan memory)
	m.done <- to
	return <-to
}

func (m *memory) sample() {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	m.heap = max(m.heap, s[0].Value.Uint64())
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch {
		case err != nil:
		case name == "RssAnon":
			m.anon = max(m.anon, kb<<10)
		case name == "RssFile":
			m.file = max(m.file, kb<<10)
		}
	}
}

func (m memory) String() string {
	s := "at most " + humanize.IBytes(m.heap) + " of heap"
	if m.anon > 0 {
		s += fmt.Sprintf(", %s resident that is no file's, %s of mapped files", humanize.IBytes(m.anon), humanize.IBytes(m.file))
	}
	return s
}
