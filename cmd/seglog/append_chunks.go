package main

import "io"

// chunks reads ahead, so that whoever takes the chunks can also wait for the
// time and for signals, which a blocked Read cannot.
type chunks struct {
	full chan []byte // closed at the end; has room for all of them
	free chan []byte
	err  error // why the reading ended, io.EOF excepted; valid once full is closed
}

const (
	chunkBytes = 256 << 10
	chunkCount = 4
)

// newChunks reads r until its end. The goroutine may stay blocked in r when
// nobody takes the chunks any more: it ends with the process.
func newChunks(r io.Reader) *chunks {
	c := &chunks{full: make(chan []byte, chunkCount), free: make(chan []byte, chunkCount)}
	for range chunkCount {
		c.free <- make([]byte, chunkBytes)
	}
	go c.read(r)
	return c
}

func (c *chunks) read(r io.Reader) {
	defer close(c.full)
	for buf := range c.free {
		n, err := r.Read(buf)
		if n > 0 {
			c.full <- buf[:n]
		} else {
			c.free <- buf
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			c.err = err
			return
		}
	}
}

// giveBack lets a chunk's memory be read into again.
func (c *chunks) giveBack(chunk []byte) { c.free <- chunk[:cap(chunk)] }
