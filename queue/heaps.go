package queue

import "container/heap"

// byOffset is entries to deliver, the oldest message first.
type byOffset []*entry

func (h byOffset) Len() int           { return len(h) }
func (h byOffset) Less(i, j int) bool { return h[i].offset < h[j].offset }
func (h byOffset) Swap(i, j int)      { swap(h, i, j) }
func (h *byOffset) Push(x any)        { *h = append(*h, x.(*entry)) }
func (h *byOffset) Pop() any          { return pop((*[]*entry)(h)) }

// byTime is entries that something happens to at a time, the earliest first.
type byTime []*entry

func (h byTime) Len() int           { return len(h) }
func (h byTime) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h byTime) Swap(i, j int)      { swap(h, i, j) }
func (h *byTime) Push(x any)        { *h = append(*h, x.(*entry)) }
func (h *byTime) Pop() any          { return pop((*[]*entry)(h)) }

func swap(h []*entry, i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func pop(h *[]*entry) *entry {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}

// put puts an entry that is in no heap into one.
func put(h heap.Interface, e *entry) {
	e.heap, e.index = h, h.Len()
	heap.Push(h, e)
}

// take takes an entry out of the heap it is in, if it is in one.
func take(e *entry) {
	if e.heap != nil {
		heap.Remove(e.heap, e.index)
		e.heap = nil
	}
}
