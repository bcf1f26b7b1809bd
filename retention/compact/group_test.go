package compact

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/segment"
)

func TestGroups(t *testing.T) {
	const far = 1 << 31
	for name, c := range map[string]struct {
		facts []segment.Facts
		want  []group
	}{
		"none":                       {},
		"as many as fit":             {[]segment.Facts{{Size: 50}, {Size: 50}, {Size: 1}}, []group{{0, 2}, {2, 3}}},
		"a large one alone":          {[]segment.Facts{{Size: 1}, {Size: 900}, {Size: 1}}, []group{{0, 1}, {1, 2}, {2, 3}}},
		"offset indexes":             {[]segment.Facts{{IndexBytes: 6}, {IndexBytes: 5}}, []group{{0, 1}, {1, 2}}},
		"time indexes":               {[]segment.Facts{{TimeBytes: 6}, {TimeBytes: 5}}, []group{{0, 1}, {1, 2}}},
		"the last offset that fits":  {[]segment.Facts{{}, {Base: 9, Next: far, Size: 1}}, []group{{0, 2}}},
		"an offset out of reach":     {[]segment.Facts{{}, {Base: 9, Next: far + 1, Size: 1}}, []group{{0, 1}, {1, 2}}},
		"an empty one has no offset": {[]segment.Facts{{}, {Base: far + 1, Next: far + 1}}, []group{{0, 2}}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, groups(c.facts, 100, 10)) })
	}
}
