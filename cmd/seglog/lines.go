package main

import (
	"bytes"
	"fmt"
)

// lines splits chunks of input at a delimiter.
type lines struct {
	delimiter []byte
	most      int // bytes of a line

	partial []byte // a line whose end has not come
}

// longLine is the error of a line that has more bytes than it may.
type longLine struct{ bytes int }

func (e longLine) Error() string {
	return fmt.Sprintf("a line of %s or more", formatSize(int64(e.bytes)))
}

// take gives each the lines that end in the chunk, without their delimiters. They
// are its own until it returns.
func (l *lines) take(chunk []byte, each func(line []byte) error) error {
	searched := 0 // no delimiter begins before it
	if n := len(l.partial); n > 0 {
		searched = max(0, n-len(l.delimiter)+1)
		l.partial = append(l.partial, chunk...)
		chunk = l.partial
	}
	for {
		i := bytes.Index(chunk[searched:], l.delimiter)
		if i < 0 {
			break
		}
		line := chunk[:searched+i]
		if len(line) > l.most {
			return longLine{len(line)}
		}
		if err := each(line); err != nil {
			return err
		}
		chunk, searched = chunk[len(line)+len(l.delimiter):], 0
	}
	if len(chunk) > l.most+len(l.delimiter) { // before it takes up more memory
		return longLine{len(chunk)}
	}
	l.partial = append(l.partial[:0], chunk...)
	return nil
}

// finish is the end of the input, which ends a line.
func (l *lines) finish(each func(line []byte) error) error {
	if len(l.partial) == 0 {
		return nil
	}
	line := l.partial
	l.partial = nil
	if len(line) > l.most {
		return longLine{len(line)}
	}
	return each(line)
}
