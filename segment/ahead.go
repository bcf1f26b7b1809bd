package segment

import (
	"math"

	"github.com/seglog/seglog/internal/vfs"
)

// ahead is a goroutine that has pages made for a file that is appended to, before
// the appender needs them: it writes one run of zeros, at the end of what is
// prepared, and ends. The appender follows it piece by piece; whoever writes to the
// file there, or cuts or closes it, waits for its end with settle. The owner's lock
// guards it.
type ahead struct {
	file vfs.Ahead // nil where none is written, or where one failed
	// written tells the end of each piece of the run, and over behind the last or one
	// that failed; nil for no run. It has room for all of them: who writes ahead waits
	// for nobody.
	written chan int64
	end     int64 // of the run
}

const over = 0 // no piece ends there

// run is how much is prepared at once, and how.
type run struct {
	bytes, piece int64
	writeBack    bool
}

// Of a log that is synced little is prepared, since a sync writes it, too; in small
// pieces, since the page cache keeps a piece together and a sync of one record
// writes all of it; and it is sent on its way to the device, so that a sync finds
// the file's blocks written before and need not tell the file system that they are.
// The further back the last sync is, the less it matters to the next; and larger
// pieces are cheaper (docs/decisions/0024).
var (
	runSynced   = run{bytes: window, piece: 4 << 10, writeBack: true}
	runUnsynced = run{bytes: 4 * window, piece: window}
	runLong     = run{bytes: 16 * window, piece: 4 * window}
)

// far is how far back the last sync is where runs are long: what they add to the
// next is little beside what is to be written anyway.
const far = 8 << 20

// run is how pages are made behind pos. A log is taken for one that is synced where
// the last sync is less than a window back, or nothing tells yet.
func (s *Segment) run(pos int64) *run {
	switch since := pos - s.synced.Load(); {
	case since < window:
		return &runSynced
	case since < far:
		return &runUnsynced
	}
	return &runLong
}

// prepareAhead begins a run if less than half of one is left behind pos.
func (g *growing) prepareAhead(pos int64, r *run) {
	if g.prepared-pos >= r.bytes/2 || g.ahead.file == nil {
		return
	}
	for len(g.ahead.written) > 0 { // which costs each append less than to try to receive
		g.took(<-g.ahead.written)
	}
	from, end, file := g.prepared, min((g.prepared+r.bytes)/r.piece*r.piece, g.size), g.ahead.file
	if g.ahead.written != nil || from-pos >= r.bytes/2 || from >= end || file == nil {
		return
	}
	written := make(chan int64, r.bytes/r.piece+2)
	g.ahead.written, g.ahead.end = written, end
	go func() {
		if writeZeros(file, from, end, r.piece, func(end int64) { written <- end }) == nil && r.writeBack {
			file.WriteBack(from, end)
		}
		written <- over
	}()
}

// await waits until there are pages up to end, or nobody writes ahead.
func (g *growing) await(end int64) {
	for g.prepared < end && g.ahead.written != nil {
		g.took(<-g.ahead.written)
	}
}

// settle waits until nobody writes ahead.
func (g *growing) settle() { g.await(math.MaxInt64) }

// took takes note of a piece that was written, or of the end of the run. One that
// failed is for the appender to meet, which prepares what is missing.
func (g *growing) took(end int64) {
	switch {
	case end != over:
		g.prepared = max(g.prepared, end)
	case g.prepared < g.ahead.end:
		g.ahead = ahead{}
	default:
		g.ahead.written = nil
	}
}

// writeZeros writes [from, end) a piece at a time, each up to a multiple of its
// size: the page cache keeps together only what is aligned. It tells where each ends.
func writeZeros(file vfs.File, from, end, piece int64, written func(end int64)) error {
	for from < end {
		n := min(piece-from%piece, end-from)
		if _, err := file.WriteAt(zeros[:n], from); err != nil {
			return err
		}
		from += n
		written(from)
	}
	return nil
}
