package said

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// History is what a log has to hold, by what its machine said before the power
// went and by what was found after it went the last time.
type History struct {
	keyed, kept bool

	have map[int64]ID // records found or said, by offset
	// The log starts at first, or, if a drop was under way, up to tryFirst.
	first, tryFirst int64
	durable         int64       // all below it has to be there
	complete        int64       // have has all below it
	cutAt           int64       // a DropFrom of this offset is under way; -1 for none
	boot            int         // when its writers last wrote
	last            map[int]int // the last batch each writer of that boot said

	found *found // being said

	Counts Counts
}

// Counts are for people to see.
type Counts struct {
	Lines  int            // heard
	Acked  int            // records acknowledged
	Unsaid int            // batches found that were not said to be appended
	Notes  map[string]int // by what they begin with
}

// found is what a log holds after a cut.
type found struct {
	first, end int64
	clean      bool
	below      int64 // what is below it is only in digest
	digest     uint64
	offsets    []int64
	ids        map[int64]ID
}

// NewHistory is that of a log that is not there yet. Keyed says that its records
// have keys and that compaction takes the superseded ones; kept, that nothing is
// lost but the process, so that what was said to be appended has to be there.
func NewHistory(keyed, kept bool) *History {
	return &History{keyed: keyed, kept: kept, have: map[int64]ID{}, cutAt: -1, last: map[int]int{}, Counts: Counts{Notes: map[string]int{}}}
}

// Known is the offset below which a digest is enough.
func (h *History) Known() int64 {
	if h.keyed {
		return 0 // what compaction took has no digest
	}
	return h.complete
}

// Booted is called when the machine is started again: what it was about to say
// of what it found was not heard.
func (h *History) Booted() { h.found = nil }

// Hear takes in what the machine said of the log in that boot. An error is a
// broken promise, or a line that makes no sense.
func (h *History) Hear(boot int, line string) error {
	h.Counts.Lines++
	verb, rest, _ := strings.Cut(line, " ")
	scan := func(into ...any) error {
		if n, err := fmt.Sscan(rest, into...); err != nil || n != len(into) {
			return fmt.Errorf("the line %q makes no sense: %v", line, err)
		}
		return nil
	}
	var offset int64
	switch verb {
	case "mounting", "opening":
		return nil
	case "n":
		what, _, _ := strings.Cut(rest, ":")
		if what == "recovery" {
			what = strings.Join(strings.Fields(rest)[:2], " ")
		} else {
			what, _, _ = strings.Cut(what, " ")
		}
		h.Counts.Notes[what]++
		return nil
	case "!":
		return fmt.Errorf("the store says: %s", rest)
	case "a", "p":
		return h.appended(scan, verb == "a" || h.kept)
	case "s":
		if err := scan(&offset); err != nil {
			return err
		}
		h.durable = max(h.durable, offset)
		return nil
	case "tb":
		return scan(&h.tryFirst)
	case "b":
		if err := scan(&h.first); err != nil {
			return err
		}
		h.tryFirst = h.first
		return nil
	case "tf":
		return scan(&h.cutAt)
	case "f":
		if err := scan(&offset); err != nil {
			return err
		}
		h.cut(offset)
		return nil
	}
	return h.hearFound(boot, verb, line, scan)
}

// hearFound takes in what was found after a cut; "ready" ends it.
func (h *History) hearFound(boot int, verb, line string, scan func(...any) error) error {
	f := h.found
	if (f == nil) != (verb == "open") {
		return fmt.Errorf("the line %q comes out of turn", line)
	}
	switch verb {
	case "open":
		h.found = &found{ids: map[int64]ID{}}
		return scan(&h.found.first, &h.found.end, &h.found.clean)
	case "h":
		var digest string
		if err := scan(&f.below, &digest); err != nil {
			return err
		}
		_, err := fmt.Sscanf(digest, "%x", &f.digest)
		return err
	case "r":
		var offset int64
		var id ID
		if err := scan(&offset, &id.Writer, &id.Batch, &id.Index, &id.Count); err != nil {
			return err
		}
		f.offsets = append(f.offsets, offset)
		f.ids[offset] = id
		return nil
	case "ready":
		h.found = nil
		if err := h.judge(f); err != nil {
			return err
		}
		h.boot = boot
		return nil
	}
	return fmt.Errorf("the line %q makes no sense", line)
}

// appended takes in a batch that was said to be appended.
func (h *History) appended(scan func(...any) error, durable bool) error {
	var writer, batch, count int
	var first int64
	if err := scan(&writer, &batch, &first, &count); err != nil {
		return err
	}
	if want := h.next(writer); batch != want {
		return fmt.Errorf("writer %d says batch %d, want %d", writer, batch, want)
	}
	h.last[writer] = batch
	for i := range count {
		offset := first + int64(i)
		id := ID{Writer: writer, Batch: batch, Index: i, Count: count}
		if other, ok := h.have[offset]; ok && other != id {
			return fmt.Errorf("offset %d was given to record %v, and is record %v's", offset, id, other)
		}
		h.have[offset] = id
	}
	if durable {
		h.durable = max(h.durable, first+int64(count))
		h.Counts.Acked += count
	}
	return nil
}

// Saw takes in what somebody else read while the log was being written: it may
// not be another record than was said, and where only the process is lost it has
// to be there from then on.
func (h *History) Saw(offset int64, id ID) error {
	if want, ok := h.have[offset]; ok && want != id {
		return fmt.Errorf("a reader saw record %v at offset %d, which is record %v's", id, offset, want)
	}
	if offset < h.first {
		return nil // since dropped
	}
	h.have[offset] = id
	if h.kept {
		h.durable = max(h.durable, offset+1)
	}
	return nil
}

// next is the batch a writer has not said yet and may have appended.
func (h *History) next(writer int) int {
	if last, ok := h.last[writer]; ok {
		return last + 1
	}
	return h.boot * PerBoot
}

// cut forgets what is at and above end, where a DropFrom ended the log.
func (h *History) cut(end int64) {
	maps.DeleteFunc(h.have, func(offset int64, _ ID) bool { return offset >= end })
	h.durable, h.complete, h.cutAt = min(h.durable, end), min(h.complete, end), -1
}

// judge holds what was found against what has to be there, and goes on from it.
func (h *History) judge(f *found) error {
	err := h.compare(f)
	if err != nil && h.cutAt >= 0 {
		// The DropFrom that was under way may have been done.
		done := *h
		done.have = maps.Clone(h.have)
		id := h.have[h.cutAt]
		done.cut(h.cutAt - int64(id.Index))
		if f.end != h.cutAt-int64(id.Index) {
			return fmt.Errorf("%w (and no DropFrom(%d) that was under way leads there)", err, h.cutAt)
		}
		err = done.compare(f)
	}
	if err != nil {
		return err
	}
	maps.DeleteFunc(h.have, func(offset int64, _ ID) bool { return offset < f.first || offset >= f.below })
	maps.Copy(h.have, f.ids)
	h.first, h.tryFirst, h.durable, h.complete, h.cutAt = f.first, f.first, f.end, f.end, -1
	clear(h.last)
	return nil
}

func (h *History) compare(f *found) error {
	switch {
	case f.first < h.first || f.first > max(h.first, h.tryFirst):
		return fmt.Errorf("the log starts at %d, want %d (or up to %d)", f.first, h.first, h.tryFirst)
	case f.end < h.durable:
		return fmt.Errorf("LOST: the log ends at %d, and all below %d was durable; the last of it was record %v",
			f.end, h.durable, h.have[h.durable-1])
	case f.end < f.first:
		return fmt.Errorf("the log is [%d, %d)", f.first, f.end)
	}
	if err := h.compareDigest(f); err != nil {
		return err
	}
	for _, offset := range f.offsets {
		id := f.ids[offset]
		if want, ok := h.have[offset]; ok && id != want {
			return fmt.Errorf("offset %d has record %v, want %v", offset, id, want)
		} else if !ok {
			if err := h.unsaid(f, offset, id); err != nil {
				return err
			}
		}
	}
	if h.keyed {
		return h.compareKeys(f)
	}
	at := max(f.below, f.first)
	for _, offset := range f.offsets {
		if offset != at {
			return fmt.Errorf("LOST: offset %d follows %d", offset, at-1)
		}
		at++
	}
	if at != f.end {
		return fmt.Errorf("LOST: the last record is at %d, the log ends at %d", at-1, f.end)
	}
	return nil
}

func (h *History) compareDigest(f *found) error {
	digest := NewDigest()
	for offset := f.first; offset < f.below; offset++ {
		id, ok := h.have[offset]
		if !ok {
			return fmt.Errorf("offset %d was never said, a digest cannot have it", offset)
		}
		digest.Add(offset, id)
	}
	if got := digest.Sum(); got != f.digest {
		return fmt.Errorf("LOST: the records [%d, %d), there before, are others now: digest %x, want %x", f.first, f.below, f.digest, got)
	}
	return nil
}

// unsaid judges a record of which nobody heard: it must be of the one batch that
// its writer was appending, all of which is there.
func (h *History) unsaid(f *found, offset int64, id ID) error {
	if want := h.next(id.Writer); id.Batch != want {
		return fmt.Errorf("INVENTED: offset %d has record %v, writer %d was at batch %d", offset, id, id.Writer, want)
	}
	for i := range id.Count {
		other := offset - int64(id.Index) + int64(i)
		want := ID{Writer: id.Writer, Batch: id.Batch, Index: i, Count: id.Count}
		if got, ok := f.ids[other]; other >= f.first && (ok || !h.keyed) && got != want {
			return fmt.Errorf("TORN: offset %d has record %v, and offset %d has not %v", offset, id, other, want)
		}
	}
	if id.Index == id.Count-1 {
		h.Counts.Unsaid++
	}
	return nil
}

// compareKeys: what is missing must have been superseded by a record that is
// there.
func (h *History) compareKeys(f *found) error {
	if !slices.IsSorted(f.offsets) {
		return fmt.Errorf("the offsets do not ascend")
	}
	newest := make(map[string]int64)
	for _, offset := range f.offsets {
		newest[string(Key(f.ids[offset]))] = offset
	}
	for offset, id := range h.have {
		if _, ok := f.ids[offset]; ok || offset < f.first || offset >= f.end {
			continue
		}
		if by, ok := newest[string(Key(id))]; !ok || by < offset {
			return fmt.Errorf("LOST: offset %d, record %v, is gone, and no newer one has its key %q", offset, id, Key(id))
		}
	}
	return nil
}
