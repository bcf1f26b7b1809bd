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
	if len(b) < len(lengths) {
		return append(line, lengths[len(b)]...)
	}
	return append(appendPlural(append(line, " ("...), int64(len(b)), "byte"), ')')
}

// appendPlural is plural, fast for small numbers.
func appendPlural(line []byte, n int64, thing string) []byte {
	if n < 0 || n >= 1000 || thing != "byte" && thing != "record" {
		return append(line, plural(n, thing)...)
	}
	line = append(append(strconv.AppendInt(line, n, 10), ' '), thing...)
	if n != 1 {
		line = append(line, 's')
	}
	return line
}

const hexDigits = "0123456789abcdef"

// appendHex8 is fmt's %08x.
func appendHex8(line []byte, n uint32) []byte {
	for shift := 28; shift >= 0; shift -= 4 {
		line = append(line, hexDigits[n>>shift&15])
	}
	return line
}

// clock writes times, most of which are the one before or of the same second.
type clock struct {
	time   time.Time
	second int64
	text   []byte // of time
}

func (c *clock) append(line []byte, t time.Time) []byte {
	if t != c.time || c.text == nil {
		c.set(t)
	}
	return append(line, c.text...)
}

func (c *clock) set(t time.Time) {
	c.time = t
	if s := t.Unix(); s != c.second || c.text == nil {
		c.second, c.text = s, t.UTC().AppendFormat(c.text[:0], timeLayout)
	}
	ms := t.Nanosecond() / int(time.Millisecond)
	digits := c.text[len(c.text)-len("000Z"):]
	digits[0], digits[1], digits[2] = '0'+byte(ms/100), '0'+byte(ms/10%10), '0'+byte(ms%10)
}

// counter writes numbers, most of which are the one before plus 1.
type counter struct {
	number int64
	text   []byte // of number
}

func (c *counter) append(line []byte, n int64) []byte {
	if n != c.number+1 || n <= 0 || c.text == nil || !c.increment() {
		c.text = strconv.AppendInt(c.text[:0], n, 10)
	}
	c.number = n
	return append(line, c.text...)
}

// increment is false where another digit is needed.
func (c *counter) increment() bool {
	for i := len(c.text) - 1; i >= 0; i-- {
		if c.text[i] != '9' {
			c.text[i]++
			return true
		}
		c.text[i] = '0'
	}
	return false
}

// lengths has what stands behind an excerpt, for the shorter ones.
var lengths = func() (texts [1000]string) {
	for n := range texts {
		texts[n] = " (" + plural(int64(n), "byte") + ")"
	}
	return texts
}()
