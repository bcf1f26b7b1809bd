package main

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/seglog/seglog/record"
)

// appendJSON appends a record as one object and a newline. The names are those
// of kcat -J; what JSON has no form for is in base64 under a name of its own.
func appendJSON(dst []byte, r *record.Record) []byte {
	return appendMembers(append(dst, '{'), r)
}

// appendJSONOf is appendJSON with whose record it is.
func appendJSONOf(dst []byte, topic string, partition int32, r *record.Record) []byte {
	dst = appendString(append(dst, `{"topic":`...), []byte(topic))
	dst = append(dst, `,"partition":`...)
	dst = strconv.AppendInt(dst, int64(partition), 10)
	return appendMembers(append(dst, ','), r)
}

func appendMembers(dst []byte, r *record.Record) []byte {
	dst = append(dst, `"offset":`...)
	dst = strconv.AppendInt(dst, r.Offset, 10)
	dst = append(dst, `,"tstype":"`...)
	if r.TimestampType == record.LogAppendTime {
		dst = append(dst, "logappend"...)
	} else {
		dst = append(dst, "create"...)
	}
	dst = append(dst, `","ts":`...)
	if r.Time.IsZero() {
		dst = append(dst, "null"...)
	} else {
		dst = strconv.AppendInt(dst, r.Time.UnixMilli(), 10)
	}
	dst = appendHeaders(dst, r.Headers)
	dst = appendMember(dst, `,"key`, r.Key)
	dst = appendMember(dst, `,"payload`, r.Value)
	return append(dst, "}\n"...)
}

// appendMember appends a value under a name, which has its quote open.
func appendMember(dst []byte, name string, b []byte) []byte {
	dst = append(dst, name...)
	switch {
	case b == nil:
		return append(dst, `":null`...)
	case utf8.Valid(b):
		return appendString(append(dst, `":`...), b)
	}
	return appendBase64(append(dst, `_base64":`...), b)
}

// appendHeaders appends the flat list of names and values. It is in base64 as a
// whole if one of them is not UTF-8, so that a list is read in one way.
func appendHeaders(dst []byte, headers []record.Header) []byte {
	text := true
	for _, h := range headers {
		text = text && utf8.ValidString(h.Key) && utf8.Valid(h.Value)
	}
	element := appendBase64
	dst = append(dst, `,"headers`...)
	if text {
		element = appendString
	} else {
		dst = append(dst, "_base64"...)
	}
	dst = append(dst, `":[`...)
	for i, h := range headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(element(dst, []byte(h.Key)), ',')
		if h.Value == nil {
			dst = append(dst, "null"...)
		} else {
			dst = element(dst, h.Value)
		}
	}
	return append(dst, ']')
}

func appendBase64(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendString appends valid UTF-8 as a JSON string. U+2028 and U+2029 are
// escaped, as encoding/json does: JavaScript before 2019 ends a line at them.
func appendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0xe2 {
			continue
		}
		switch {
		case c == 0xe2: // the first byte of both
			if s[i+1] != 0x80 || s[i+2]&^1 != 0xa8 {
				continue
			}
			dst = append(dst, s[from:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hex[s[i+2]&0xf])
			i += 2
		case c == '"' || c == '\\':
			dst = append(append(dst, s[from:i]...), '\\', c)
		case c == '\n':
			dst = append(append(dst, s[from:i]...), `\n`...)
		case c == '\r':
			dst = append(append(dst, s[from:i]...), `\r`...)
		case c == '\t':
			dst = append(append(dst, s[from:i]...), `\t`...)
		default:
			dst = append(append(dst, s[from:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
		from = i + 1
	}
	return append(append(dst, s[from:]...), '"')
}
