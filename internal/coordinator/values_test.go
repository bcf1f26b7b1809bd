package coordinator_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/internal/coordinator"
)

// TestOffsetAsKafkaWrites: FORMAT of version 4, byte by byte, and of version 1
// through another implementation.
func TestOffsetAsKafkaWrites(t *testing.T) {
	v := coordinator.OffsetValue{Offset: 9, LeaderEpoch: 4, Metadata: "note", CommitTimestamp: 1600000000000, ExpireTimestamp: -1,
		TopicID: [16]byte{0xaa, 15: 0xbb}}
	b := v.Append(nil)
	require.Equal(t, "0004"+"0000000000000009"+"00000004"+"056e6f7465"+"00000174876e8000"+"010010aa0000000000000000000000000000bb", hex.EncodeToString(b))
	back, err := coordinator.ParseOffset(b)
	require.NoError(t, err)
	require.Equal(t, v, back)
	for n := range len(b) {
		_, err := coordinator.ParseOffset(b[:n])
		require.ErrorIs(t, err, coordinator.ErrMalformed, "%d bytes", n)
	}

	v = coordinator.OffsetValue{Offset: 9, LeaderEpoch: -1, Metadata: "m", CommitTimestamp: 5, ExpireTimestamp: 77}
	var k kmsg.OffsetCommitValue
	require.NoError(t, k.ReadFrom(v.Append(nil)))
	require.EqualValues(t, 1, k.Version)
	require.EqualValues(t, 77, k.ExpireTimestamp)
	back, err = coordinator.ParseOffset(v.Append(nil))
	require.NoError(t, err)
	require.Equal(t, v, back)
	_, err = coordinator.ParseOffset([]byte{0, 9})
	require.ErrorIs(t, err, coordinator.ErrUnknown)
}

// TestGroupAsOthersRead: version 3, read by kmsg and by ourselves.
func TestGroupAsOthersRead(t *testing.T) {
	p, i := "range", "i1"
	v := coordinator.GroupValue{ProtocolType: "consumer", Generation: 5, Protocol: &p, CurrentStateTimestamp: 7, Members: []coordinator.MemberValue{
		{MemberID: "m", GroupInstanceID: &i, ClientID: "c", ClientHost: "/h", RebalanceTimeout: 1, SessionTimeout: 2, Subscription: []byte("s"), Assignment: []byte{}},
		{MemberID: "n", Subscription: []byte{}, Assignment: []byte("a")}}}
	b := v.Append(nil)
	var k kmsg.GroupMetadataValue
	require.NoError(t, k.ReadFrom(b))
	require.EqualValues(t, 3, k.Version)
	require.Equal(t, b, k.AppendTo(nil))
	back, err := coordinator.ParseGroup(b)
	require.NoError(t, err)
	require.Equal(t, v, back)
	_, err = coordinator.ParseGroup(b[:len(b)-1])
	require.ErrorIs(t, err, coordinator.ErrMalformed)
}

// TestKeys: what is written comes back, and other kinds are named as unknown.
func TestKeys(t *testing.T) {
	k := coordinator.OffsetKey{Group: "g", Topic: "t", Partition: 7}
	require.Equal(t, "0001"+"000167"+"000174"+"00000007", hex.EncodeToString(k.Append(nil)))
	got, err := coordinator.OffsetsKey(k.Append(nil))
	require.NoError(t, err)
	require.Equal(t, k, got)
	got, err = coordinator.OffsetsKey(coordinator.AppendGroupKey(nil, "g"))
	require.NoError(t, err)
	require.Equal(t, "g", got)
	_, err = coordinator.OffsetsKey([]byte{0, 3, 0, 1, 'g'})
	require.ErrorIs(t, err, coordinator.ErrUnknown)
	_, err = coordinator.OffsetsKey([]byte{0})
	require.ErrorIs(t, err, coordinator.ErrMalformed)
}
