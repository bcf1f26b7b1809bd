package queue

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seglog/seglog/record"
)

// What a consumer has done is kept in two kinds of records of a log,
// by key, so that the newest of each says all:
//
//	"c" name            version 1, floor, reach, dropped
//	"d" name "/" block  version 1, spans, attempts; null once there are none
//
// All below the floor is done, and what of a block of blockSize offsets is done
// above it is the block's spans (each: the gap before it and its length). Attempts
// are messages that were delivered and are not done: offset in the block,
// deliveries, and, in ms since 1970, when they are to be delivered again at the
// earliest. Reach is an offset above everything that was delivered. Numbers are
// unsigned varints.

const (
	placeVersion = 1
	blockSize    = 4096
	placeKind    = 'c'
	blockKind    = 'd'
)

// place is the first kind.
type place struct {
	floor   int64
	reach   int64 // what was delivered is below
	dropped int64 // how many messages a limit took before they were done
}

// attempt is a message that was delivered and is not done.
type attempt struct {
	offset     int64
	deliveries int
	due        time.Time
}

func (a attempt) compare(b attempt) int { return cmp.Compare(a.offset, b.offset) }

var errPlace = errors.New("queue: damaged consumer state")

func placeKey(name string) []byte { return append([]byte{placeKind}, name...) }

func blockKey(name string, block int64) []byte {
	return strconv.AppendInt(append(append([]byte{blockKind}, name...), '/'), block, 10)
}

// append appends the value of a place's record.
func (p place) append(value []byte) []byte {
	value = append(value, placeVersion)
	value = binary.AppendUvarint(value, uint64(p.floor))
	value = binary.AppendUvarint(value, uint64(p.reach))
	return binary.AppendUvarint(value, uint64(p.dropped))
}

func blockRecord(name string, block int64, done spans, attempts []attempt, now time.Time) record.Record {
	r := record.Record{Time: now, Key: blockKey(name, block)}
	if len(done) == 0 && len(attempts) == 0 {
		return r // a tombstone
	}
	at := block * blockSize
	r.Value = binary.AppendUvarint([]byte{placeVersion}, uint64(len(done)))
	for _, s := range done {
		r.Value = binary.AppendUvarint(r.Value, uint64(s.from-at))
		r.Value = binary.AppendUvarint(r.Value, uint64(s.to-s.from))
		at = s.to
	}
	slices.SortFunc(attempts, attempt.compare)
	at = block * blockSize
	for _, a := range attempts {
		due := int64(0)
		if !a.due.IsZero() {
			due = a.due.UnixMilli()
		}
		for _, n := range []int64{a.offset - at, int64(a.deliveries), due} {
			r.Value = binary.AppendUvarint(r.Value, uint64(n))
		}
	}
	return r
}

// numbers reads varints.
type numbers struct {
	b   []byte
	bad bool
}

func (n *numbers) next() int64 {
	v, size := binary.Uvarint(n.b)
	if size <= 0 || int64(v) < 0 {
		n.b, n.bad = nil, true
		return 0
	}
	n.b = n.b[size:]
	return int64(v)
}

// parsePlace and parseBlock are the inverse.
func parsePlace(value []byte) (p place, err error) {
	n := numbers{b: value}
	version := n.next()
	p = place{n.next(), n.next(), n.next()}
	if n.bad || version != placeVersion || len(n.b) > 0 {
		return p, fmt.Errorf("%w: % x is no place", errPlace, value)
	}
	return p, nil
}

func parseBlock(block int64, value []byte) (done spans, attempts []attempt, err error) {
	n := numbers{b: value}
	version, at := n.next(), block*blockSize
	end := at + blockSize
	for range min(n.next(), blockSize) {
		from := at + n.next()
		at = from + n.next()
		if n.bad || at > end || from >= at {
			n.bad = true
			break
		}
		done.add(from, at)
	}
	for !n.bad && len(n.b) > 0 {
		a := attempt{offset: block*blockSize + n.next(), deliveries: int(n.next())}
		if due := n.next(); due > 0 {
			a.due = time.UnixMilli(due)
		}
		if a.offset >= end {
			n.bad = true
		}
		attempts = append(attempts, a)
	}
	if n.bad || version != placeVersion {
		return nil, nil, fmt.Errorf("%w: % x is no block %d", errPlace, value, block)
	}
	return done, attempts, nil
}

// parseKey says which consumer and, of a block, which block a record is of.
func parseKey(key []byte) (name string, block int64, isBlock bool, err error) {
	switch {
	case len(key) > 1 && key[0] == placeKind:
		return string(key[1:]), 0, false, nil
	case len(key) > 1 && key[0] == blockKind:
		s := string(key[1:])
		if i := strings.LastIndexByte(s, '/'); i > 0 {
			block, err = strconv.ParseInt(s[i+1:], 10, 64)
			if err == nil && block >= 0 {
				return s[:i], block, true, nil
			}
		}
	}
	return "", 0, false, fmt.Errorf("%w: key %q", errPlace, key)
}
