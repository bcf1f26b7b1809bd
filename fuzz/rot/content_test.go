package rot

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// content is everything that a log tells of itself to those who read it.
type content struct {
	first, end, stable int64
	records            []record.Record
	committed          []int64 // offsets that a reader of committed records gets
	uncommitted        []int64 // offsets of transactions that were aborted or are undecided
	producers          []log.ProducerState
	epochs             []log.EpochEntry
	aborted            []log.AbortedTxn
	at                 map[int64]int64 // OffsetAt of times in ms
}

// contentOf is that of a log in which nothing is wrong.
func contentOf(t testing.TB, l *log.Log) content {
	t.Helper()
	s := look(l, times(l))
	require.Empty(t, s.errs)
	v, err := l.Borrow(l.First(), 1<<20)
	for err == nil {
		for b := range v.Batches() {
			_, committed := slices.BinarySearch(s.committed, b.BaseOffset)
			for offset := b.BaseOffset; b.Transactional() && !b.Control() && !committed && offset < b.NextOffset(); offset++ {
				s.uncommitted = append(s.uncommitted, offset)
			}
		}
		next := v.Next()
		v.Release()
		v, err = l.Borrow(next, 1<<20)
	}
	require.ErrorIs(t, err, io.EOF)
	return s.content
}

// seen is the content as far as it can be read, and what came instead of the
// rest.
type seen struct {
	content
	errs    []error
	damage  []*log.DamageError // met by the walk, in order
	timeErr map[int64]error
}

// times are moments that lookups by time are asked for: those of records, and
// between them.
func times(l *log.Log) (list []int64) {
	for r, err := range l.From(l.First()) {
		if err == nil {
			list = append(list, r.Time.UnixMilli(), r.Time.UnixMilli()+1)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func look(l *log.Log, times []int64) *seen {
	s := &seen{timeErr: map[int64]error{}}
	s.first, s.end, s.stable = l.First(), l.End(), l.LastStable()
	for r, err := range l.From(s.first) {
		if err == nil {
			s.records = append(s.records, r)
			continue
		}
		s.errs = append(s.errs, err)
		var d *log.DamageError
		if errors.As(err, &d) {
			s.damage = append(s.damage, d)
		}
		if len(s.errs) > 1000 {
			break
		}
	}
	for r, err := range l.Isolated(log.ReadCommitted).From(s.first) {
		if err == nil {
			s.committed = append(s.committed, r.Offset)
		}
	}
	s.producers, s.epochs = l.Producers(), l.LeaderEpochs()
	s.aborted = l.Aborted(s.first, s.end)
	s.at = make(map[int64]int64)
	for _, ms := range times {
		offset, err := l.OffsetAt(time.UnixMilli(ms))
		if err != nil {
			s.timeErr[ms] = err
			s.errs = append(s.errs, err)
			continue
		}
		s.at[ms] = offset
	}
	return s
}

// untrue says what in the log as it is seen is neither as it was written nor
// told of, nothing if there is no such thing.
func (s *seen) untrue(want *content) (faults []string) {
	say := func(what, format string, args ...any) {
		faults = append(faults, what+": "+fmt.Sprintf(format, args...))
	}
	for _, err := range s.errs {
		var d *log.DamageError
		if !errors.As(err, &d) {
			say("error", "no DamageError: %v", err)
			continue
		}
		if d.Path == "" || d.Position < 0 || d.Offset < 0 || d.Next >= 0 && d.Next < d.Offset {
			say("error", "no place: %+v", d)
		}
	}
	if s.first != want.first {
		say("first", "%d, want %d", s.first, want.first)
	}
	if s.end != want.end && !s.covers(min(s.end, want.end)) { // of a damaged end it is a guess
		say("end", "%d, want %d", s.end, want.end)
	}
	faults = append(faults, s.recordsUntrue(want)...)
	if len(s.errs) > 0 {
		// What is known of batches that cannot be read may not be known.
		return append(faults, s.committedUntrue(want)...)
	}
	if !slices.Equal(s.committed, want.committed) {
		say("committed", "%v, want %v", s.committed, want.committed)
	}
	if s.stable != want.stable {
		say("stable", "%d, want %d", s.stable, want.stable)
	}
	if !slices.Equal(s.aborted, want.aborted) {
		say("aborted", "%v, want %v", s.aborted, want.aborted)
	}
	if !slices.Equal(s.producers, want.producers) {
		say("producers", "%v, want %v", s.producers, want.producers)
	}
	if !slices.Equal(s.epochs, want.epochs) {
		say("epochs", "%v, want %v", s.epochs, want.epochs)
	}
	return faults
}

// recordsUntrue holds the records against those written: each is one of them, in
// its place, and between them nothing is missing but what damage covers.
func (s *seen) recordsUntrue(want *content) (faults []string) {
	w := 0
	for _, r := range s.records {
		for w < len(want.records) && want.records[w].Offset < r.Offset {
			if !s.covers(want.records[w].Offset) {
				faults = append(faults, fmt.Sprintf("missing: offset %d", want.records[w].Offset))
			}
			w++
		}
		if w == len(want.records) || !same(r, want.records[w]) {
			faults = append(faults, fmt.Sprintf("invented: offset %d, %q %q", r.Offset, r.Key, r.Value))
			continue
		}
		w++
	}
	for ; w < len(want.records); w++ {
		if !s.covers(want.records[w].Offset) {
			faults = append(faults, fmt.Sprintf("missing: offset %d", want.records[w].Offset))
		}
	}
	for ms, offset := range s.at {
		if right := want.at[ms]; offset != right {
			faults = append(faults, fmt.Sprintf("offsetat: %d for %d, want %d", offset, ms, right))
			break
		}
	}
	return faults
}

// committedUntrue wants nothing to be handed out as committed that was aborted or
// is undecided.
func (s *seen) committedUntrue(want *content) (faults []string) {
	for _, offset := range s.committed {
		if slices.Contains(want.uncommitted, offset) {
			faults = append(faults, fmt.Sprintf("committed: offset %d was not", offset))
		}
	}
	return faults
}

// covers says whether an offset is within what the walk reported as damage.
func (s *seen) covers(offset int64) bool {
	return slices.ContainsFunc(s.damage, func(d *log.DamageError) bool {
		if d.Next < 0 {
			return offset >= d.Offset
		}
		return offset >= d.Offset && offset < d.Next
	})
}

func same(a, b record.Record) bool {
	return a.Offset == b.Offset && string(a.Key) == string(b.Key) && (a.Key == nil) == (b.Key == nil) &&
		string(a.Value) == string(b.Value) && (a.Value == nil) == (b.Value == nil) && a.Time.Equal(b.Time) &&
		slices.EqualFunc(a.Headers, b.Headers, func(x, y record.Header) bool {
			return x.Key == y.Key && string(x.Value) == string(y.Value) && (x.Value == nil) == (y.Value == nil)
		})
}
