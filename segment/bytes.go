package segment

import "bytes"

// Bytes is the published log in the mapping's own memory, nothing of it
// verified: for who has verified it before. It is valid until Release, and
// touching it may fault: see vfs.Guard.
func (p Pin) Bytes() []byte { return p.r.log[:p.size:p.size] }

// DataEnd is the length of b without the zeros that it ends with.
func DataEnd(b []byte) int {
	const page = 4096
	for len(b) >= page && bytes.Equal(b[len(b)-page:], zeros[:page]) {
		b = b[:len(b)-page]
	}
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return len(b)
}
