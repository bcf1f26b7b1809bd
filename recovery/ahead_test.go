package recovery

import (
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
)

// TestReadAhead: of logs that are and are not whole steps, more and less than
// are read in one go, all is read and hashed, whoever comes first; and to close
// early waits for nothing.
func TestReadAhead(t *testing.T) {
	content := make([]byte, 4*aheadSteps*aheadStep+77)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	for _, size := range []int{0, 1, aheadStep - 1, aheadStep, aheadStep + 1, aheadSteps * aheadStep, aheadSteps*aheadStep + 1, len(content)} {
		for _, from := range []int{0, 1, 100, aheadStep, size - 1, size} {
			if from < 0 || from > size {
				continue
			}
			log := content[:size]
			a := readAhead(log, int64(from), true)
			for at := int64(from); at <= int64(size); at += 100_000 {
				a.until(at)
				require.GreaterOrEqual(t, a.read, at)
			}
			sum, err := a.end()
			require.NoError(t, err)
			require.Equal(t, xxhash.Sum64(log[from:]), sum, "%d bytes from %d", size, from)
			a.close()

			for _, hash := range []bool{true, false} {
				a = readAhead(log, int64(from), hash)
				a.until(int64(from) + 10)
				a.close()
				a.close()
			}
		}
	}
}
