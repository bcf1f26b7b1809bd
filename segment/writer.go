package segment

import (
	"errors"
	"math"
	"os"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// writer is what only an active segment has. The owner's lock guards it.
type writer struct {
	log     growing
	offsets growing
	times   growing
	indexes index.Writer
	untrue  bool // an index did not take an entry
	derived bool // the indexes were, when the segment was opened
	owed    bool // see Owed
}

// Create makes a new active segment at base, removing files of that name that
// are there. Its names are durable after the directory is synced. If it fails
// nothing is left of it: an empty log is a segment, too, and would come between
// others once the offsets at base were appended elsewhere.
func Create(cfg *Config, base int64) (*Segment, error) {
	if err := cfg.unlink(base); err != nil {
		return nil, err
	}
	s, err := openActive(cfg, Empty(base), 0, (*growing).open)
	if err != nil {
		return nil, errors.Join(err, cfg.unlink(base))
	}
	return s, nil
}

func (c *Config) unlink(base int64) error {
	var errs []error
	for _, suffix := range []string{LogSuffix, IndexSuffix, TimeIndexSuffix, TxnIndexSuffix} {
		if err := c.FS.Remove(path(c.Dir, base, suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// TrustAll says that all files of a segment are as its Facts say.
const TrustAll = math.MaxInt64

// OpenActive opens the newest segment for appending behind the f.Size bytes
// that are known to be whole batches. Its indexes are believed for the batches
// that start below trusted and derived from the log behind that, timestamps
// included; with TrustAll nothing is looked at. On a full disk an index that has
// no file does without.
func OpenActive(cfg *Config, f Facts, trusted int64) (*Segment, error) {
	return openActive(cfg, f, trusted, (*growing).openOrHeap)
}

func openActive(cfg *Config, f Facts, trusted int64,
	openIndex func(g *growing, fs vfs.FS, name string, capacity, step int64) error) (_ *Segment, err error) {
	s := OpenSealed(cfg, f)
	w := new(writer)
	var opened []*growing
	defer func() {
		if err != nil {
			for _, g := range opened {
				err = errors.Join(err, g.unmap(), g.close())
			}
		}
	}()
	room := max(cfg.Bytes, f.Size)
	for _, part := range []struct {
		g        *growing
		suffix   string
		capacity int64
		step     int64
		open     func(g *growing, fs vfs.FS, name string, capacity, step int64) error
	}{
		{&w.log, LogSuffix, room, firstLogStep, (*growing).open},
		{&w.offsets, IndexSuffix, cfg.indexCapacity(room, index.OffsetEntrySize), firstIndexStep, openIndex},
		{&w.times, TimeIndexSuffix, cfg.indexCapacity(room, index.TimeEntrySize), firstIndexStep, openIndex},
	} {
		if err := part.open(part.g, cfg.FS, path(cfg.Dir, f.Base, part.suffix), part.capacity, part.step); err != nil {
			return nil, err
		}
		opened = append(opened, part.g)
	}
	if err := s.resumeIndexes(w, trusted); err != nil {
		return nil, err
	}
	s.w, s.file = w, w.log.file
	s.synced.Store(f.Size)
	s.region.Store(s.newRegion(w.log.mem, w.indexes.Offsets, w.indexes.Times, w.log.m, w.offsets.m, w.times.m))
	return s, nil
}

// indexCapacity is the memory of an index of a log of size bytes: what it needs
// and one entry more, within Kafka's limit.
func (c *Config) indexCapacity(size, entry int64) int64 {
	return min((size/c.IndexInterval+2)*entry, MaxIndexBytes/entry*entry)
}

// resumeIndexes continues the index files of a reopened segment.
func (s *Segment) resumeIndexes(w *writer, trusted int64) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	f, interval := s.facts, s.cfg.IndexInterval
	o := index.NewOffsets(s.base, w.offsets.mem, w.offsets.entries(index.OffsetEntrySize))
	t := index.NewTimes(s.base, w.times.mem, w.times.entries(index.TimeEntrySize))
	if trusted == TrustAll && s.canGoOn(o, t, w.log.mem[:f.Size]) {
		o.Store, t.Store = w.offsets.store, w.times.store
		w.indexes = index.NewWriter(interval, o, t, index.TimeEntry{Timestamp: f.MaxTime, Offset: f.MaxTimeAt})
		return nil
	}
	if trusted == TrustAll {
		s.cfg.Logger.Warn("segment: rebuilding the indexes of the newest segment: their last entries are not true", "segment", s.base)
		trusted = 0
	}
	w.derived = true
	made := f.Size == 0 && w.offsets.size == 0 && w.times.size == 0 // now: there is nothing to clear
	// Derived entries go behind the believed ones; make the room first, since
	// moving an index to the heap replaces its memory.
	entries := f.Size/interval + 2
	for _, g := range []struct {
		*growing
		entry int64
	}{{&w.offsets, index.OffsetEntrySize}, {&w.times, index.TimeEntrySize}} {
		if err := g.reserveOrHeap(min(entries*g.entry, int64(len(g.mem)))); err != nil {
			return err
		}
	}
	o = index.NewOffsets(s.base, w.offsets.mem, o.Check(min(f.Size, trusted), f.Next))
	t = index.NewTimes(s.base, w.times.mem, t.Check(f.Next))
	if o.Len() > 0 && !startsBatch(w.log.mem[:f.Size], o.Last()) {
		o = index.NewOffsets(s.base, w.offsets.mem, 0)
	}
	if t.Truncate(o.Last().Offset + 1); o.Len() == 0 || t.Len() > 0 && !s.hasTime(o, w.log.mem[:f.Size], t.Last()) {
		t = index.NewTimes(s.base, w.times.mem, 0) // padding, too, looks like an entry
	}
	w.offsets.clear(o.Bytes())
	w.times.clear(t.Bytes())
	o.Store, t.Store = w.offsets.store, w.times.store
	w.indexes = index.NewWriter(interval, o, t, t.Last())

	// Time entries are thinner, so the largest timestamp is only known up to
	// the batch of the last of them: the walk starts there.
	from, _ := o.Floor(t.Last().Offset)
	extendIndexes(&w.indexes, f, w.log.mem[:f.Size], from.Position)
	if f.MaxTime > w.indexes.Max().Timestamp {
		w.indexes.Observe(index.Batch{LastOffset: f.MaxTimeAt, MaxTimestamp: f.MaxTime}) // of a damaged batch, it may be
	}
	s.maxTime.Store(w.indexes.Max().Timestamp)
	if h, err := record.ParseHeader(w.log.mem[:f.Size]); err == nil { // damage is for its reader to meet
		s.firstTime.Store(h.MaxTimestamp)
	}
	w.owed = !made
	return nil
}

// Owed says that the index files of a segment that was opened have to be durable
// before a checkpoint has them believed: what was cleared in them, then or by a process
// that was killed, may be of batches that are gone, and would be believed if it came
// back once others are in their place.
func (s *Segment) Owed() bool { return s.w != nil && s.w.owed }

// canGoOn says whether entries can be added behind those of a segment that was
// closed: its last ones are true. Others are verified when they are followed.
func (s *Segment) canGoOn(o *index.Offsets, t *index.Times, log []byte) bool {
	f := s.facts
	last := o.Last()
	if o.Len() > 0 && (last.Offset >= f.Next || !startsBatch(log, last)) {
		return false
	}
	return t.Len() == 0 && f.MaxTime < 0 || t.Len() > 0 && t.Last() == index.TimeEntry{Timestamp: f.MaxTime, Offset: f.MaxTimeAt}
}

// hasTime says whether an entry of the time index is about the batch that it
// names: the walk to that one is short.
func (s *Segment) hasTime(o *index.Offsets, log []byte, e index.TimeEntry) bool {
	from, _ := o.Floor(e.Offset)
	for pos := from.Position; pos < int64(len(log)); {
		h, err := record.ParseHeader(log[pos:])
		if err != nil || h.LastOffset() >= e.Offset {
			return err == nil && h.LastOffset() == e.Offset && h.MaxTimestamp == e.Timestamp
		}
		pos += int64(h.Size)
	}
	return false
}

// startsBatch says whether an index entry leads to the start of a batch that
// it can stand for.
func startsBatch(log []byte, e index.OffsetEntry) bool {
	if e.Position < 0 || e.Position >= int64(len(log)) {
		return false
	}
	b, err := record.Parse(log[e.Position:])
	return err == nil && b.BaseOffset <= e.Offset
}

// IndexFull says that no further entry fits an index: time to roll.
func (s *Segment) IndexFull() bool {
	return s.w.indexes.Offsets.Full() || s.w.indexes.Times.Full()
}

// Reserve makes sure that n more bytes of log and the index entries they may
// bring fit, growing the files where they do not. After an error, ENOSPC above
// all, the segment is as it was.
func (s *Segment) Reserve(n int64) error {
	w, pos := s.w, s.size.Load()
	end := pos + n
	if end > w.log.size {
		if err := w.log.reserve(end); err != nil {
			return err
		}
	}
	if end > w.log.prepared && n < writeFrom {
		if err := w.log.prepare(end, s.run(pos).piece); err != nil {
			return err
		}
	}
	var entries int64
	if w.indexes.Wants(pos) {
		entries = 1
	}
	if end := w.indexes.Offsets.Bytes() + entries*index.OffsetEntrySize; end > w.offsets.size {
		if err := w.offsets.reserve(end); err != nil {
			return err
		}
	}
	// One more than is added now: the closing entry must find its room taken.
	if end := w.indexes.Times.Bytes() + (entries+1)*index.TimeEntrySize; end > w.times.size {
		return w.times.reserve(end)
	}
	return nil
}

// Capacity is how long the active segment can become.
func (s *Segment) Capacity() int64 { return int64(len(s.w.log.mem)) }

// writeFrom is the size from which a batch goes to the file by a write from the
// caller's buffer, which the mapping shows at once: as fast as storing to
// prepared pages, and then they need not be prepared.
const writeFrom = 64 << 10

// Append copies the encoded batch raw, whose header is h, to the end and
// publishes it at base. raw's base offset is set to it. Reserve has made the
// room. It returns vfs.ErrFault if the file was cut by someone else. After an
// error nothing is published, and after one of writing it may be tried again.
func (s *Segment) Append(raw []byte, h *record.BatchHeader, base int64) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err) // the indexes are mapped, too
	w, pos := s.w, s.size.Load()
	if err := w.put(raw, pos, base); err != nil {
		return err
	}
	s.publish(h, pos, base, int64(len(raw)))
	return nil
}

// Fits says that n more bytes of log and the index entries they bring need no
// Reserve.
func (s *Segment) Fits(n int64) bool {
	w, end := s.w, s.size.Load()+n
	if end > w.log.prepared {
		w.log.await(end)
	}
	return end <= w.log.prepared && w.indexes.Offsets.Bytes()+index.OffsetEntrySize <= w.offsets.size &&
		w.indexes.Times.Bytes()+2*index.TimeEntrySize <= w.times.size
}

// AppendDraft is Append for the records of a batch that is not encoded yet, and
// whose Bound Fits: it is encoded in its place. After record.ErrInvalid nothing has happened.
func (s *Segment) AppendDraft(d *record.Draft, records []record.Record, base int64) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	pos := s.size.Load()
	d.BaseOffset = base
	if err := s.w.encode(d, records, pos); err != nil {
		return err
	}
	s.publish(&d.BatchHeader, pos, base, int64(d.Size))
	return nil
}

// publish lets readers have the batch of n bytes at pos.
func (s *Segment) publish(h *record.BatchHeader, pos, base, n int64) {
	w, last := s.w, base+int64(h.LastOffsetDelta)
	s.indexed(w.indexes.Add(index.Batch{Position: pos, LastOffset: last, MaxTimestamp: h.MaxTimestamp}))
	if pos == 0 {
		s.firstTime.Store(h.MaxTimestamp)
	}
	if newest := w.indexes.Max().Timestamp; newest != s.maxTime.Load() { // a store costs ten loads
		s.maxTime.Store(newest)
	}
	s.next.Store(last + 1)
	s.size.Store(pos + n)
	if n < writeFrom { // one that is written needs no pages, and most likely neither does the next
		w.log.prepareAhead(pos+n, s.run(pos))
	}
}

const length, behind = 8, record.FrameSize // positions in a batch: of its length, and of what follows

// indexed is told how adding to an index went. That its last entry does not let
// another follow is damage to derived data, which costs no record.
func (s *Segment) indexed(err error) {
	if err != nil && !s.w.untrue {
		s.w.untrue = true
		s.cfg.Logger.Warn("segment: an index is not true, and not added to", "segment", s.base, "error", err)
	}
}

// put stores the bytes of a batch. The length is stored last: until then there is
// no batch, so none is ever seen in a place that is not its own, by a process that
// reads along or after a kill, and recovery knows one that was not whole yet from
// one that was and is damaged. The base offset, which no checksum covers, is there
// before it.
func (w *writer) put(raw []byte, pos, base int64) error {
	record.SetBaseOffset(raw, base)
	if end := pos + int64(len(raw)); len(raw) >= writeFrom {
		w.log.settle() // or zeros could come over it
		if _, err := w.log.file.WriteAt(raw[behind:], pos+behind); err != nil {
			w.log.put(pos, make([]byte, record.HeaderSize))
			return err
		}
		w.log.prepared = max(w.log.prepared, end)
	} else {
		w.log.put(pos+behind, raw[behind:])
	}
	w.frameAt(pos, raw)
	return nil
}

// frameAt stores what finds the batch at pos, of which the rest is there: the
// first bytes of raw, its length last.
func (w *writer) frameAt(pos int64, raw []byte) {
	w.log.put(pos, raw[:length])
	w.log.put(pos+length, raw[length:behind])
}

// encode is put of a batch that is encoded now, in the same order.
func (w *writer) encode(d *record.Draft, records []record.Record, pos int64) error {
	bound := int64(d.Bound())
	raw := w.log.mem[pos : pos+bound]
	if w.log.store != nil {
		raw = make([]byte, bound)
	}
	if err := d.Encode(raw, records); err != nil {
		return err
	}
	d.Frame((*[record.FrameSize]byte)(raw))
	if w.log.store != nil {
		w.log.put(pos+behind, raw[behind:d.Size])
		w.frameAt(pos, raw)
	}
	return nil
}
