package main

import (
	"strconv"
	"time"
)

// appendExcerpt appends the beginning of some bytes, quoted, and their number.
func appendExcerpt(line, b []byte) []byte {
	const most = 48
	if b == nil {
		return append(line, "null"...)
	}
	line = appendQuoted(line, b[:min(len(b), most)])
	if len(b) > most {
		line = append(line, "..."...)
	}
	line = append(line, " ("...)
	if n := len(b); n > 1 && n < 1000 {
		return append(strconv.AppendInt(line, int64(n), 10), " bytes)"...)
	}
	return append(append(line, formatBytes(int64(len(b)))...), ')')
}

// appendQuoted is strconv.AppendQuote, and fast for what needs no escapes.
func appendQuoted(line, b []byte) []byte {
	for _, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(line, string(b))
		}
	}
	return append(append(append(line, '"'), b...), '"')
}

// clock writes times, most of which are of the second that the one before was
// of.
type clock struct {
	second int64
	text   []byte // of second, with milliseconds to be written over
}

func (c *clock) append(line []byte, t time.Time) []byte {
	if s := t.Unix(); s != c.second || c.text == nil {
		c.second, c.text = s, t.UTC().AppendFormat(c.text[:0], timeLayout)
	}
	line = append(line, c.text...)
	ms := t.Nanosecond() / int(time.Millisecond)
	digits := line[len(line)-len("000Z"):]
	digits[0], digits[1], digits[2] = '0'+byte(ms/100), '0'+byte(ms/10%10), '0'+byte(ms%10)
	return line
}
