package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far long work is, with its rate and the time left where
// the whole is known. It shows nothing of work that is done in a moment, and
// nothing where nobody looks: nil is progress that is not shown.
type progress struct {
	bar  *progressbar.ProgressBar
	from time.Time
	seen bool
}

// progressUnit is what progress counts.
type progressUnit bool

const (
	records progressUnit = false
	bytesOf progressUnit = true
)

const showAfter = 500 * time.Millisecond

// newProgress is shown on stderr if that is a terminal. total is -1 if unknown.
func newProgress(stderr io.Writer, what string, unit progressUnit, total int64) *progress {
	if !isTerminal(stderr) {
		return nil
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // or it shows itself early
		progressbar.OptionSetWidth(20),
		progressbar.OptionClearOnFinish(),
	}
	if unit == bytesOf {
		options = append(options, progressbar.OptionShowBytes(true))
	} else {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString("records"))
	}
	p := &progress{bar: progressbar.NewOptions64(total, options...), from: time.Now()}
	p.bar.StartWithoutRender() // the rate counts from here
	return p
}

// set says how much is done.
func (p *progress) set(done int64) {
	if p == nil || !p.seen && time.Since(p.from) < showAfter {
		return
	}
	p.seen = true
	_ = p.bar.Set64(done) // progress that cannot be shown is no error
}

// end takes the progress off the terminal.
func (p *progress) end() {
	if p != nil && p.seen {
		_ = p.bar.Finish()
	}
}
