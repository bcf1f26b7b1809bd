package main

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestAppendQuoted: it is strconv.AppendQuote, of any bytes.
func TestAppendQuoted(t *testing.T) {
	same := func(t require.TestingT, b []byte) {
		want := string(strconv.AppendQuote([]byte("before "), string(b)))
		require.Equal(t, want, string(appendQuoted([]byte("before "), b)))
	}
	for c := range 256 { // every byte at every place of a word
		for at := range 17 {
			b := []byte("plain text, long.")
			b[at] = byte(c)
			same(t, b)
			same(t, b[:at+1])
		}
	}
	for r := range rune(0x11000) {
		same(t, []byte(string(r)))
	}
	same(t, []byte("\U0010ffff\U0010ffff"))
	rapid.Check(t, func(t *rapid.T) {
		same(t, rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes"))
		same(t, []byte(rapid.StringN(0, 60, -1).Draw(t, "text")))
	})
}

// TestAppendWords: the appending forms write what the others do.
func TestAppendWords(t *testing.T) {
	for _, thing := range []string{"byte", "record", "batch", "entry"} {
		for _, n := range []int64{0, 1, 2, 11, 999, 1000, 1234567, -1, -1000} {
			require.Equal(t, plural(n, thing), string(appendPlural(nil, n, thing)))
		}
	}
	var c clock
	var offsets counter
	for _, from := range []int64{0, 0, -3, 1, 2, 8, 99, 98, 999_999_999, math.MaxInt64 - 1} {
		for n := from; n-from < 12 && n >= from; n++ {
			require.Equal(t, fmt.Sprint(n), string(offsets.append(nil, n)))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint32().Draw(t, "n")
		require.Equal(t, fmt.Sprintf("%08x", n), string(appendHex8(nil, n)))
		ms := rapid.Int64Range(0, 5000).Draw(t, "ms") + rapid.SampledFrom([]int64{0, 1_700_000_000_000, 253402300800000}).Draw(t, "from")
		require.Equal(t, millis(ms), string(c.append(nil, time.UnixMilli(ms))))
	})
}
