package main

import "io"

// output gathers what is printed into large writes.
type output struct {
	w   io.Writer
	buf []byte
	err error // the first of w
}

const outputBytes = 64 << 10

func newOutput(w io.Writer) *output { return &output{w: w, buf: make([]byte, 0, 2*outputBytes)} }

func (o *output) buffer() []byte { return o.buf }

func (o *output) wrote(buf []byte) error {
	o.buf = buf
	if len(buf) < outputBytes {
		return nil
	}
	return o.flush()
}

func (o *output) flush() error {
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.w.Write(o.buf)
		o.buf = o.buf[:0]
	}
	return o.err
}
