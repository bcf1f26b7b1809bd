package concurrent

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/seglog/seglog/internal/invariants"
	"github.com/seglog/seglog/internal/vfs"
)

// unsteady is a file system in which every call may take a while. Of two of the
// same seed the n-th calls do.
func unsteady(below vfs.FS, seed uint64) *vfs.Faulty {
	f := vfs.NewFaulty(below)
	d := &delays{seed: seed}
	f.Trace = func(vfs.Call) { d.pause() }
	return f
}

// shake makes the engine pause between steps, where it was built with the tag
// invariants, until the func it returns is called.
func shake(seed uint64) (stop func()) {
	d := &delays{seed: seed}
	invariants.OnPause(func(string) { d.pause() })
	return func() { invariants.OnPause(nil) }
}

// delays are mostly none, and else of quite different lengths.
type delays struct {
	seed uint64
	n    atomic.Uint64
}

func (d *delays) pause() {
	r := rand.NewPCG(d.seed, d.n.Add(1))
	switch x := r.Uint64() % 1000; {
	case x < 700:
	case x < 920:
		runtime.Gosched()
	case x < 970:
		for range 1 + r.Uint64()%20 {
			runtime.Gosched()
		}
	case x < 998:
		time.Sleep(time.Duration(r.Uint64()%50) * time.Microsecond)
	default:
		time.Sleep(time.Duration(r.Uint64()%1000) * time.Microsecond)
	}
}
