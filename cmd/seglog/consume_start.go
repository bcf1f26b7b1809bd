package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seglog/seglog/group/assign"
)

// span says where partitions are read from and, if until is set, where to.
type span struct {
	from  spanFrom
	n     int64 // an offset, how many before the end, or a time in milliseconds
	until *int64
}

type spanFrom int

const (
	fromBeginning spanFrom = iota
	fromEnd
	fromOffset
	fromLast
	fromTime
)

// parseSpan reads the values of --offset.
func parseSpan(list []string, now time.Time) (span, error) {
	var s span
	starts := 0
	for _, text := range list {
		if at, ok := strings.CutPrefix(text, "e@"); ok && s.until == nil {
			ms, err := parseMoment(at, now)
			if err != nil {
				return span{}, err
			}
			s.until = &ms
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		at, isTime := strings.CutPrefix(text, "s@")
		switch starts++; {
		case starts > 1:
			return span{}, usagef("--offset %s: more than one place to start or to end at", strings.Join(list, ", "))
		case text == "beginning" || text == "earliest":
			s.from = fromBeginning
		case text == "end" || text == "latest":
			s.from = fromEnd
		case isTime:
			if s.n, err = parseMoment(at, now); err != nil {
				return span{}, err
			}
			s.from = fromTime
		case err != nil:
			return span{}, usagef("--offset %q: want beginning, end, an offset, -N, s@TIME or e@TIME", text)
		case n < 0:
			s.from, s.n = fromLast, -n
		default:
			s.from, s.n = fromOffset, n
		}
	}
	return s, nil
}

// parseMoment is a time in milliseconds since 1970, as such or as parseTime reads it.
func parseMoment(text string, now time.Time) (int64, error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms >= 0 {
		return ms, nil
	}
	at, err := parseTime(text, now)
	if err == nil && at.UnixMilli() < 0 {
		err = usagef("%q is before 1970", text)
	}
	return at.UnixMilli(), err
}

// bounds are where a partition is read from, and where its end is by now.
type bounds struct{ from, end int64 }

// bounds are those of partitions for what there is of them now.
func (s span) bounds(ctx context.Context, c cluster, of map[assign.TopicPartition]bool, level int8) (map[assign.TopicPartition]bounds, error) {
	firsts, err := c.offsets(ctx, of, earliest)
	if err != nil {
		return nil, err
	}
	ends, err := c.isolatedOffsets(ctx, of, latest, level)
	if err != nil {
		return nil, err
	}
	at := make(map[assign.TopicPartition]int64)
	if s.from == fromTime {
		if at, err = c.isolatedOffsets(ctx, of, s.n, level); err != nil {
			return nil, err
		}
	}
	untils := make(map[assign.TopicPartition]int64)
	if s.until != nil {
		if untils, err = c.isolatedOffsets(ctx, of, *s.until, level); err != nil {
			return nil, err
		}
	}
	all := make(map[assign.TopicPartition]bounds)
	for _, tp := range inOrder(of) {
		first, known := firsts[tp]
		end, alsoKnown := ends[tp]
		if !known || !alsoKnown {
			return nil, fmt.Errorf("%s-%d has no leader, or was deleted", tp.Topic, tp.Partition)
		}
		b := bounds{first, end}
		switch s.from {
		case fromEnd:
			b.from = end
		case fromOffset:
			if b.from = s.n; s.n < first || s.n > end {
				return nil, usagef("--offset %d: %s-%d holds %s: choose one from there, or its end", s.n, tp.Topic, tp.Partition, offsetRange(first, end))
			}
		case fromLast:
			b.from = max(first, end-s.n)
		case fromTime:
			b.from = end
			if found, ok := at[tp]; ok {
				b.from = min(found, end)
			}
		}
		if until, ok := untils[tp]; ok {
			b.end = min(until, end)
		}
		all[tp] = b
	}
	return all, nil
}
