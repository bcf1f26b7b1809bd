package main

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/record"
)

// consumeFormat appends a record as it is printed.
type consumeFormat func(dst []byte, r *kgo.Record) []byte

// plainFormat is the value, behind the key where there is one if it is asked for.
func plainFormat(keyDelimiter, delimiter string, null []byte) consumeFormat {
	return func(dst []byte, r *kgo.Record) []byte {
		if keyDelimiter != "" && r.Key != nil {
			dst = append(append(dst, r.Key...), keyDelimiter...)
		}
		return append(appendOr(dst, r.Value, null), delimiter...)
	}
}

func appendOr(dst, b, null []byte) []byte {
	if b == nil {
		return append(dst, null...)
	}
	return append(dst, b...)
}

// parseFormat reads kcat's format: what follows a % stands for a part of the
// record, the rest for itself.
func parseFormat(text string, null []byte) (consumeFormat, error) {
	var parts []consumeFormat
	for rest := text; rest != ""; {
		literal, after, found := strings.Cut(rest, "%")
		if literal != "" {
			plain, err := parseSeparator(literal)
			if err != nil {
				return nil, err
			}
			parts = append(parts, func(dst []byte, _ *kgo.Record) []byte { return append(dst, plain...) })
		}
		if !found {
			break
		}
		if after == "" {
			return nil, usagef("--format %q ends with a %%; write %%%% for one", text)
		}
		part := formatPart(after[0], null)
		if part == nil {
			return nil, usagef("--format %q: %%%c is nothing; there are %%t %%p %%o %%T %%k %%K %%s %%S %%R %%h %%%%", text, after[0])
		}
		parts, rest = append(parts, part), after[1:]
	}
	return func(dst []byte, r *kgo.Record) []byte {
		for _, part := range parts {
			dst = part(dst, r)
		}
		return dst
	}, nil
}

// formatPart is what a letter behind a % stands for, nil for none.
func formatPart(letter byte, null []byte) consumeFormat {
	number := func(of func(r *kgo.Record) int64) consumeFormat {
		return func(dst []byte, r *kgo.Record) []byte { return strconv.AppendInt(dst, of(r), 10) }
	}
	switch letter {
	case '%':
		return func(dst []byte, _ *kgo.Record) []byte { return append(dst, '%') }
	case 't':
		return func(dst []byte, r *kgo.Record) []byte { return append(dst, r.Topic...) }
	case 'p':
		return number(func(r *kgo.Record) int64 { return int64(r.Partition) })
	case 'o':
		return number(func(r *kgo.Record) int64 { return r.Offset })
	case 'T':
		return number(func(r *kgo.Record) int64 { return r.Timestamp.UnixMilli() })
	case 'k':
		return func(dst []byte, r *kgo.Record) []byte { return appendOr(dst, r.Key, null) }
	case 'K':
		return number(func(r *kgo.Record) int64 { return lengthOf(r.Key) })
	case 's':
		return func(dst []byte, r *kgo.Record) []byte { return appendOr(dst, r.Value, null) }
	case 'S':
		return number(func(r *kgo.Record) int64 { return lengthOf(r.Value) })
	case 'R':
		return func(dst []byte, r *kgo.Record) []byte {
			return binary.BigEndian.AppendUint32(dst, uint32(lengthOf(r.Value)))
		}
	case 'h':
		return appendTextHeaders
	}
	return nil
}

// lengthOf is the number of bytes, -1 for null.
func lengthOf(b []byte) int64 {
	if b == nil {
		return -1
	}
	return int64(len(b))
}

func appendTextHeaders(dst []byte, r *kgo.Record) []byte {
	for i, h := range r.Headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, h.Key...), '=')
		dst = appendOr(dst, h.Value, []byte("NULL"))
	}
	return dst
}

// jsonFormat is that of read --format json, with the topic and the partition.
func jsonFormat() consumeFormat {
	var headers []record.Header
	return func(dst []byte, r *kgo.Record) []byte {
		headers = headers[:0]
		for _, h := range r.Headers {
			headers = append(headers, record.Header(h))
		}
		one := record.Record{Offset: r.Offset, Key: r.Key, Value: r.Value, Headers: headers}
		if r.Timestamp.UnixMilli() >= 0 {
			one.Time = r.Timestamp
		}
		if r.Attrs.TimestampType() == 1 {
			one.TimestampType = record.LogAppendTime
		}
		return appendJSONOf(dst, r.Topic, r.Partition, &one)
	}
}
