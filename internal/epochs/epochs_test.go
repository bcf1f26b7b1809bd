package epochs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/internal/epochs"
)

func history(t testing.TB, text string) epochs.History {
	t.Helper()
	h, err := epochs.Decode([]byte(text))
	require.NoError(t, err)
	return h
}

func TestAssign(t *testing.T) {
	for _, c := range []struct {
		name         string
		before       string
		epoch        int32
		start        int64
		after        string
		reportedNews bool
	}{
		{"first", "0\n0\n", 0, 0, "0\n1\n0 0\n", true},
		{"next", "0\n1\n0 0\n", 3, 10, "0\n2\n0 0\n3 10\n", true},
		{"the same again", "0\n1\n3 10\n", 3, 20, "0\n1\n3 10\n", false},
		{"the same, earlier", "0\n2\n0 0\n3 10\n", 3, 5, "0\n2\n0 0\n3 5\n", true},
		{"a leader that wrote nothing is replaced", "0\n2\n2 10\n4 20\n", 6, 20, "0\n2\n2 10\n6 20\n", true},
		{"an older epoch takes the newer ones back", "0\n3\n1 0\n2 10\n3 20\n", 2, 30, "0\n2\n1 0\n2 30\n", true},
		{"from before everything", "0\n2\n1 5\n2 10\n", 3, 0, "0\n1\n3 0\n", true},
		{"no epoch", "0\n1\n1 5\n", -1, 9, "0\n1\n1 5\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := history(t, c.before)
			assert.Equal(t, c.reportedNews, h.Assign(c.epoch, c.start))
			assert.Equal(t, c.after, string(h.Encode()))
		})
	}
}

func TestTruncate(t *testing.T) {
	const text = "0\n3\n0 0\n2 10\n6 20\n"
	for _, c := range []struct {
		end     int64
		after   string
		changed bool
	}{
		{21, text, false}, {20, "0\n2\n0 0\n2 10\n", true}, {1, "0\n1\n0 0\n", true}, {0, "0\n0\n", true},
	} {
		h := history(t, text)
		assert.Equal(t, c.changed, h.TruncateFromEnd(c.end), c.end)
		assert.Equal(t, c.after, string(h.Encode()), c.end)
	}
	for _, c := range []struct {
		start   int64
		after   string
		changed bool
	}{
		{0, text, false}, {5, "0\n3\n0 5\n2 10\n6 20\n", true}, {10, "0\n2\n2 10\n6 20\n", true},
		{15, "0\n2\n2 15\n6 20\n", true}, {99, "0\n1\n6 99\n", true},
	} {
		h := history(t, text)
		assert.Equal(t, c.changed, h.TruncateFromStart(c.start), c.start)
		assert.Equal(t, c.after, string(h.Encode()), c.start)
	}
}

func TestEndOffset(t *testing.T) {
	h := history(t, "0\n3\n1 5\n3 10\n6 20\n")
	for _, c := range []struct {
		asked  int32
		known  int32
		offset int64
		ok     bool
	}{
		{-1, 0, 0, false}, {0, 0, 5, true}, {1, 1, 10, true}, {2, 1, 10, true}, {3, 3, 20, true},
		{5, 3, 20, true}, {6, 6, 30, true}, {7, 0, 0, false},
	} {
		known, offset, ok := h.EndOffset(c.asked, 30)
		assert.Equal(t, c.ok, ok, c.asked)
		assert.Equal(t, c.known, known, c.asked)
		assert.Equal(t, c.offset, offset, c.asked)
	}
	_, _, ok := new(epochs.History).EndOffset(0, 0)
	assert.False(t, ok)
}

func TestDecode(t *testing.T) {
	for _, empty := range []string{"", "0", "0\n0\n", "0\r\n0\r\n"} {
		h := history(t, empty)
		assert.Empty(t, h.Entries())
	}
	crlf := history(t, "0\r\n1\r\n4  7\r\n")
	assert.Equal(t, []epochs.Entry{{Epoch: 4, Start: 7}}, crlf.Entries())
	for _, bad := range []string{"1\n0\n", "0\n2\n0 0\n", "0\n0\n0 0\n", "0\n1\n0\n", "0\n1\nx 0\n", "0\n1\n-1 0\n", "0\n1\n0 -1\n",
		"0\n2\n1 0\n1 5\n", "0\n2\n1 5\n2 5\n", "nonsense", "0\n1\n99999999999 0\n"} {
		_, err := epochs.Decode([]byte(bad))
		assert.Error(t, err, "%q", bad)
	}
}

// Whatever is assigned and cut, the entries ascend, the file reads back the
// same, and EndOffset agrees with a walk over offsets.
func TestHistoryIsAlwaysInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h epochs.History
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			at := rapid.Int64Range(0, 50).Draw(t, "offset")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				h.TruncateFromEnd(at)
			case 1:
				h.TruncateFromStart(at)
			default:
				h.Assign(rapid.Int32Range(-1, 20).Draw(t, "epoch"), at)
			}
		}
		last := epochs.Entry{Epoch: -1, Start: -1}
		for _, e := range h.Entries() {
			assert.Greater(t, e.Epoch, last.Epoch)
			assert.Greater(t, e.Start, last.Start)
			last = e
		}
		again, err := epochs.Decode(h.Encode())
		require.NoError(t, err)
		assert.Equal(t, string(h.Encode()), string(again.Encode()))
		const end = 60
		for epoch := range int32(22) {
			known, offset, ok := h.EndOffset(epoch, end)
			if latest, any := h.Latest(); !any || epoch > latest.Epoch {
				assert.False(t, ok)
				continue
			}
			assert.True(t, ok)
			for at := offset; at < end; at++ {
				assert.Greater(t, h.At(at), epoch, "from the end of an epoch on only later ones wrote")
			}
			for at := int64(0); at < offset; at++ {
				assert.LessOrEqual(t, h.At(at), max(known, epoch))
			}
		}
	})
}
