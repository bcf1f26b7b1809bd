package record

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	for c := None; c.valid(); c++ {
		got, err := ParseCodec(c.String())
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
	_, err := ParseCodec("brotli")
	require.ErrorIs(t, err, ErrInvalid)
	require.Equal(t, "Codec(7) LogAppendTime TimestampType(3) ABORT ControlType(99)",
		fmt.Sprint(Codec(7), " ", LogAppendTime, " ", TimestampType(3), " ", ControlAbort, " ", ControlType(99)))
}

func TestControl(t *testing.T) {
	for c := ControlAbort; c <= ControlKRaftVoters+1; c++ { // the last one unknown
		got, err := ParseControl(append(ControlKey(c), 9))
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
	epoch, err := ParseEndTxn([]byte{0, 7, 0, 0, 0, 42, 1, 2})
	require.NoError(t, err)
	require.Equal(t, int32(42), epoch)
	for _, bad := range [][]byte{nil, {0, 0, 0}, {0x80, 0, 0, 0, 0, 0}} {
		_, err := ParseControl(bad)
		require.ErrorIs(t, err, ErrCorrupt)
		_, err = ParseEndTxn(bad)
		require.ErrorIs(t, err, ErrCorrupt)
	}
}
