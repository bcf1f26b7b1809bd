package segment

import "github.com/seglog/seglog/internal/vfs"

// ahead is a goroutine that has pages made for a file that is appended to, before
// the appender needs them: it writes one run of zeros, at the end of what is
// prepared, and ends. Whoever stores there, or cuts or closes the file, waits for
// it with settle. The owner's lock guards it.
type ahead struct {
	file vfs.Ahead  // nil where none is written, or where one failed
	done chan error // of the run that is being written, nil for none
	end  int64      // of that run
}

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
	if g.ahead.done != nil {
		select {
		case err := <-g.ahead.done:
			g.finish(err) // which may be enough: the next append looks
		default:
		}
		return
	}
	from, end, file := g.prepared, min((g.prepared+r.bytes)/r.piece*r.piece, g.size), g.ahead.file
	if from >= end || file == nil {
		return
	}
	done := make(chan error, 1)
	g.ahead.done, g.ahead.end = done, end
	go func() {
		err := writeZeros(file, from, end, r.piece)
		if err == nil && r.writeBack {
			file.WriteBack(from, end)
		}
		done <- err
	}()
}

// settle waits until nobody writes ahead.
func (g *growing) settle() {
	if g.ahead.done != nil {
		g.finish(<-g.ahead.done)
	}
}

// finish takes note of a run that was written. One that failed is for the appender
// to meet, which prepares what is missing.
func (g *growing) finish(err error) {
	if g.ahead.done = nil; err != nil {
		g.ahead.file = nil
		return
	}
	g.prepared = max(g.prepared, g.ahead.end)
}

// writeZeros writes [from, end) a piece at a time, each up to a multiple of its
// size: the page cache keeps together only what is aligned.
func writeZeros(file vfs.File, from, end, piece int64) error {
	for from < end {
		n := min(piece-from%piece, end-from)
		if _, err := file.WriteAt(zeros[:n], from); err != nil {
			return err
		}
		from += n
	}
	return nil
}
