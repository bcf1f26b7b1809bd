package workload

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"
)

// A long append benchmark works in a bounded set of memory: segments of
// SegmentBytes, of which it drops what is there, off the clock, each time Window
// bytes have been appended. Otherwise it would time how fast a virtual machine
// gets memory from its host (five times as long a page, on some).
const (
	SegmentBytes = 64 << 20
	Window       = 256 << 20
)

// Clock is a fixed time, so that a benchmark times the engine and not the clock.
var Clock = time.UnixMilli(1_800_000_000_000)

// Records is how many records of 100 bytes are scanned and looked up.
func Records() int {
	if testing.Short() {
		return 20_000
	}
	return 1_000_000
}

// OpenBytes is how many bytes of records, of 1 KiB each, are in a log that is
// opened.
func OpenBytes() int {
	if testing.Short() {
		return 8 << 20
	}
	return 1 << 30
}

// Segments is how many segments of SmallSegment bytes are held by a log whose
// memory is looked at.
func Segments() int {
	if testing.Short() {
		return 20
	}
	return 1000
}

// SmallSegment is a size that all engines accept which have one.
const SmallSegment = 64 << 10

// Payload is n bytes that do not compress.
func Payload(n int) []byte { return payload(0, n) }

func payload(seed, n int) []byte {
	b := make([]byte, 0, n+sha256.Size)
	for i := 0; len(b) < n; i++ {
		sum := sha256.Sum256(fmt.Append(nil, seed, i))
		b = append(b, sum[:]...)
	}
	return b[:n]
}

// Text is n bytes that compress well, lz4 to 27%: lines of an access log.
func Text(n int) []byte {
	b := make([]byte, 0, n+256)
	for i := 0; len(b) < n; i++ {
		sum := sha256.Sum256(fmt.Append(nil, i))
		b = fmt.Appendf(b, "10.%d.%d.%d - - [30/Nov/2026:12:%02d:%02d +0000] \"GET /articles/%x HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0\"\n",
			sum[0], sum[1], sum[2], sum[3]%60, sum[4]%60, sum[5:9], int(sum[9])<<8)
	}
	return b[:n]
}

// Values is count different payloads of n bytes.
func Values(count, n int) [][]byte {
	values := make([][]byte, count)
	for i := range values {
		values[i] = payload(i, n)
	}
	return values
}

// Size is n bytes as the name of a benchmark spells it.
func Size(n int) string {
	if n < 1024 {
		return fmt.Sprintf("%dB", n)
	}
	return fmt.Sprintf("%dKiB", n/1024)
}

// Texts is count different texts of n bytes.
func Texts(count, n int) [][]byte {
	all := Text(count * n)
	texts := make([][]byte, count)
	for i := range texts {
		texts[i] = all[i*n : (i+1)*n]
	}
	return texts
}
