package main

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/seglog/seglog/fuzz/powercut/disk"
)

// patience is for how long a machine whose disks fail goes on.
const patience = 10 * time.Second

// failing is what is wrong with the disks during one boot:
//
//	reads    of a range that has records, from the start on
//	writes   some, from some moment on
//
// A store may end with an error then; what it had acknowledged has to be there at
// the next boot all the same, when the disks do not fail.
type failing struct {
	disks  []*disk.Disk
	writes int // that are to fail
	begun  bool
}

// newFailing draws it; most boots have none, so that what was left is judged.
func (s *series) newFailing(disks []*disk.Disk) *failing {
	f := &failing{disks: disks}
	if s.fail == "" || s.age == 0 || s.r.IntN(2) == 0 {
		return f
	}
	switch s.fail {
	case "writes":
		f.writes = 1 + s.r.IntN(40)
	case "reads":
		f.begun = true
		for _, d := range disks {
			breakRecords(d, s.r)
		}
	}
	return f
}

// aValue is how the value of a record begins (package said).
var aValue = regexp.MustCompile(`[0-9]+ [0-9]+ [0-9] [1-9] `)

// breakRecords makes a page of a disk unreadable that has a record.
func breakRecords(d *disk.Disk, r *rand.Rand) {
	const page = 4096
	if at := d.Find(aValue.Match); len(at) > 0 {
		from := at[r.IntN(len(at))] / page * page
		d.Break(from, from+page)
	}
}

// begin has writes fail from now on; false where there is nothing to begin.
func (f *failing) begin() bool {
	if f.begun || f.writes == 0 {
		return false
	}
	f.begun = true
	for _, d := range f.disks {
		d.FailWrites(f.writes)
	}
	return true
}

// excuses says that a line is the error of a store whose disk fails.
func (f *failing) excuses(line string) bool { return f.begun && strings.HasPrefix(line, "! failed: ") }

// ended says that all disks' stores have ended with an error.
func (s *series) ended() bool {
	for _, sub := range s.subjects {
		if !sub.ended {
			return false
		}
	}
	return true
}
