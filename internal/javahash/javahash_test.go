package javahash_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/javahash"
)

// TestString: as Java 17 says, in UTF-16 and over the end of an int.
func TestString(t *testing.T) {
	for s, want := range map[string]int32{"": 0, "a": 97, "my-group": -1906497762, "é": 233, "𝄞": 1772394, "polygenelubricants": -2147483648} {
		require.Equal(t, want, javahash.String(s), "%q", s)
	}
}

// TestCompare: a surrogate comes before what is at the end of the basic plane,
// in bytes it does not.
func TestCompare(t *testing.T) {
	require.Negative(t, javahash.Compare("𝄞", "\uffee"))
	require.Positive(t, javahash.Compare("b", "a"))
	require.Zero(t, javahash.Compare("é", "é"))
}

// TestOrder: keys are in their buckets' order, and the table grows.
func TestOrder(t *testing.T) {
	require.Equal(t, []string{"m-a", "m-c", "m-b", "m-e", "m-d"}, javahash.Order([]string{"m-a", "m-b", "m-c", "m-d", "m-e"}))
	require.EqualValues(t, 0, javahash.Bucket(16, 12))
	require.EqualValues(t, 16, javahash.Bucket(16, 13))
}
