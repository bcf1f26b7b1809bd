package power

import "slices"

// Minimise leaves steps out of a failing plan, and cuts out of its steps, as
// long as it fails, and returns the failure of what is left, which says what it
// did.
func Minimise(f *Failure) *Failure {
	p := f.Plan
	fails := func(steps []Step) bool {
		q := p
		q.Steps = steps
		return Run(q, NewStats(), false) != nil
	}
	if !fails(p.Steps) { // a run does not repeat: that is another fault
		return f
	}
	for size := len(p.Steps) / 2; size > 0; {
		shorter := false
		for from := 0; from < len(p.Steps); {
			less := slices.Delete(slices.Clone(p.Steps), from, min(from+size, len(p.Steps)))
			if fails(less) {
				p.Steps, shorter = less, true
			} else {
				from += size
			}
		}
		if size /= 2; size == 0 && shorter {
			size = 1
		}
	}
	for i := range p.Steps {
		for _, change := range []func(*Step){func(s *Step) { s.NoCut = true }, func(s *Step) { s.NoNest = true }} {
			steps := slices.Clone(p.Steps)
			change(&steps[i])
			if !p.Steps[i].NoCut && fails(steps) {
				p.Steps = steps
			}
		}
	}
	if f := Run(p, NewStats(), true); f != nil {
		return f
	}
	return f
}
