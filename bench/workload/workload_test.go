package workload

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFairness(t *testing.T) {
	require.InDelta(t, 1, fairness([]int64{5, 5, 5, 5}), 1e-9)
	require.InDelta(t, 0.25, fairness([]int64{8, 0, 0, 0}), 1e-9)
	require.InDelta(t, 0.9, fairness([]int64{2, 1}), 1e-9) // 9 / (2 * 5)
}

func TestPercentile(t *testing.T) {
	var l Latencies
	for i := range 1000 {
		l.Add(time.Duration(i + 1))
	}
	require.EqualValues(t, 500, l.percentile(0.5))
	require.EqualValues(t, 990, l.percentile(0.99))
	require.EqualValues(t, 999, l.percentile(0.999))
	one := Join([]Latencies{{}, {ns: []int64{7}}})
	require.EqualValues(t, 7, one.percentile(0.5))
	require.EqualValues(t, 7, one.percentile(0.999))
}

// TestLostRecordsAreSeen: a store that has fewer records than were appended, or
// more, is an error.
func TestLostRecordsAreSeen(t *testing.T) {
	for held, ok := range map[int64]bool{9: false, 10: true, 11: false} {
		s := Store{Held: func() (int64, error) { return held, nil }}
		require.Equal(t, ok, s.verify(10) == nil, held)
	}
	broken := errors.New("broken")
	require.ErrorIs(t, Store{Held: func() (int64, error) { return 10, broken }}.verify(10), broken)
}

// TestRace: all calls are counted, each to the goroutine that made it, and an
// error ends all.
func TestRace(t *testing.T) {
	calls, took := make([]int64, 3), make([]Latencies, 3)
	l := race(calls, took, true, 100, func() error { return nil })
	require.NoError(t, l.err)
	require.GreaterOrEqual(t, l.calls, int64(100))
	require.Equal(t, l.calls, calls[0]+calls[1]+calls[2])
	require.Len(t, Join(took).ns, int(l.calls))

	broken := errors.New("broken")
	require.ErrorIs(t, race(calls, took, false, 1<<40, func() error { return broken }).err, broken)
}

func TestText(t *testing.T) {
	texts := Texts(3, 1000)
	require.Len(t, texts, 3)
	require.NotEqual(t, texts[0], texts[1])
	for _, text := range texts {
		require.Len(t, text, 1000)
	}
}
