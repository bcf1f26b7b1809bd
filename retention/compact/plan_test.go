package compact

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPlan: three sealed segments of 100 bytes, an hour apart, and the active.
func TestPlan(t *testing.T) {
	ms := func(ago time.Duration) int64 { return noon.Add(-ago).UnixMilli() }
	state := State{LogEnd: 400, LastStable: 400, Now: noon, Segments: []Segment{
		{Base: 0, Bytes: 100, FirstTime: ms(4 * time.Hour), MaxTime: ms(3 * time.Hour)},
		{Base: 100, Bytes: 100, FirstTime: ms(3 * time.Hour), MaxTime: ms(2 * time.Hour)},
		{Base: 200, Bytes: 100, FirstTime: ms(2 * time.Hour), MaxTime: ms(time.Hour)},
		{Base: 300, Bytes: 100},
	}}
	for name, c := range map[string]struct {
		o      Options
		change func(s *State)
		want   Plan
	}{
		"never cleaned": {want: Plan{End: 300, EndedBy: ActiveSegment, DirtyBytes: 300, Due: true}},
		"all clean": {change: func(s *State) { s.FirstDirty = 300 },
			want: Plan{FirstDirty: 300, End: 300, EndedBy: ActiveSegment, CleanBytes: 300, Skip: NothingDirty}},
		"clean into the active one": {change: func(s *State) { s.FirstDirty = 350 },
			want: Plan{FirstDirty: 350, End: 350, EndedBy: ActiveSegment, CleanBytes: 300, Skip: NothingDirty}},
		"half is not more than half": {change: func(s *State) { s.FirstDirty, s.Segments[1].Bytes = 100, 0 },
			want: Plan{FirstDirty: 100, End: 300, EndedBy: ActiveSegment, CleanBytes: 100, DirtyBytes: 100}},
		"a byte more is": {change: func(s *State) { s.FirstDirty, s.Segments[1].Bytes = 100, 1 },
			want: Plan{FirstDirty: 100, End: 300, EndedBy: ActiveSegment, CleanBytes: 100, DirtyBytes: 101, Due: true}},
		"a ratio of nothing, for whatever is dirty": {o: Options{MinDirtyRatio: 1e-9}, change: func(s *State) { s.FirstDirty = 200 },
			want: Plan{FirstDirty: 200, End: 300, EndedBy: ActiveSegment, CleanBytes: 200, DirtyBytes: 100, Due: true}},
		"a segment that holds both is counted as both": {change: func(s *State) { s.FirstDirty = 150 },
			want: Plan{FirstDirty: 150, End: 300, EndedBy: ActiveSegment, CleanBytes: 200, DirtyBytes: 200}},
		"overdue": {o: Options{MaxLag: 90 * time.Minute}, change: func(s *State) { s.FirstDirty = 200 },
			want: Plan{FirstDirty: 200, End: 300, EndedBy: ActiveSegment, CleanBytes: 200, DirtyBytes: 100, Overdue: true, Due: true}},
		"not yet overdue": {o: Options{MaxLag: 2 * time.Hour}, change: func(s *State) { s.FirstDirty = 200 },
			want: Plan{FirstDirty: 200, End: 300, EndedBy: ActiveSegment, CleanBytes: 200, DirtyBytes: 100}},
		"too young": {o: Options{MinLag: 2*time.Hour + time.Millisecond},
			want: Plan{End: 100, EndedBy: TooYoung, DirtyBytes: 100, Due: true}},
		"just old enough": {o: Options{MinLag: 2 * time.Hour},
			want: Plan{End: 200, EndedBy: TooYoung, DirtyBytes: 200, Due: true}},
		"all too young": {o: Options{MinLag: 24 * time.Hour},
			want: Plan{EndedBy: TooYoung, Skip: TooYoung}},
		"the young one is clean": {o: Options{MinLag: 3*time.Hour + time.Minute}, change: func(s *State) { s.FirstDirty = 200; s.Segments[2].MaxTime = ms(24 * time.Hour) },
			want: Plan{FirstDirty: 200, End: 300, EndedBy: ActiveSegment, CleanBytes: 200, DirtyBytes: 100}},
		"an open transaction": {change: func(s *State) { s.LastStable = 250 },
			want: Plan{End: 200, EndedBy: OpenTxn, DirtyBytes: 200, Due: true}},
		"one since the beginning": {change: func(s *State) { s.LastStable = 50 },
			want: Plan{EndedBy: OpenTxn, Skip: OpenTxn}},
		"the log start rose": {change: func(s *State) { s.LogStart, s.FirstDirty = 120, 100 },
			want: Plan{FirstDirty: 120, End: 300, EndedBy: ActiveSegment, CleanBytes: 200, DirtyBytes: 200}},
		"the log was cut": {change: func(s *State) { s.FirstDirty = 500 },
			want: Plan{End: 300, EndedBy: ActiveSegment, DirtyBytes: 300, Due: true}},
		"only an active segment": {change: func(s *State) { s.Segments = s.Segments[3:] },
			want: Plan{End: 300, EndedBy: ActiveSegment, Skip: NothingDirty}},
	} {
		t.Run(name, func(t *testing.T) {
			s := state
			s.Segments = append([]Segment(nil), s.Segments...)
			if c.change != nil {
				c.change(&s)
			}
			o, err := c.o.WithDefaults()
			require.NoError(t, err)
			require.Equal(t, c.want, o.Plan(s))
		})
	}
}

func TestOptions(t *testing.T) {
	o, err := Options{}.WithDefaults()
	require.NoError(t, err)
	require.Equal(t, 0.5, o.MinDirtyRatio)
	require.Equal(t, 24*time.Hour, o.DeleteRetention)
	require.EqualValues(t, 128<<20, o.MapBytes)
	for _, bad := range []Options{{MinDirtyRatio: -1}, {MinDirtyRatio: 2}, {MinLag: -1}, {MaxLag: -1}, {DeleteRetention: -1},
		{MapBytes: 1}} {
		_, err := bad.WithDefaults()
		require.Error(t, err)
	}
}
