package coordinator

import (
	"encoding/binary"
	"fmt"
)

// OffsetKey is the key of a committed offset, of type 1 (0 is the same).
type OffsetKey struct {
	Group     string `json:"group"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

// OffsetValue is a committed offset.
type OffsetValue struct {
	Offset          int64
	LeaderEpoch     int32 // -1 for none; before version 3 there is none
	Metadata        string
	CommitTimestamp int64    // in milliseconds since 1970
	ExpireTimestamp int64    // in milliseconds since 1970, -1 for none; only version 1 has one
	TopicID         [16]byte // of version 4
}

// GroupValue is a group with its members. In version 2 and later it says since
// when it has been in its state.
type GroupValue struct {
	ProtocolType          string
	Generation            int32
	Protocol              *string
	Leader                *string
	CurrentStateTimestamp int64 // in milliseconds since 1970, -1 for none
	Members               []MemberValue
}

// MemberValue is a member of a group.
type MemberValue struct {
	MemberID                 string
	GroupInstanceID          *string
	ClientID, ClientHost     string
	RebalanceTimeout         int32 // in milliseconds; -1 in version 0
	SessionTimeout           int32 // in milliseconds
	Subscription, Assignment []byte
}

// OffsetsKey reads a key of __consumer_offsets. It returns an OffsetKey or, for
// a group, its name; ErrUnknown for keys of other kinds.
func OffsetsKey(key []byte) (any, error) {
	r := reader{b: key}
	kind := r.int16()
	if r.err != nil {
		return nil, r.err
	}
	switch kind {
	case 0, 1:
		k := readOffsetKey(&r)
		return k, r.err
	case 2:
		name := r.must()
		return name, r.err
	}
	return nil, fmt.Errorf("%w: key of type %d", ErrUnknown, kind)
}

// ParseOffset reads the value of a committed offset.
func ParseOffset(value []byte) (OffsetValue, error) {
	r := reader{b: value}
	version := r.int16()
	v, ok := readOffset(&r, version)
	if r.err == nil && !ok {
		return v, fmt.Errorf("%w: value of version %d", ErrUnknown, version)
	}
	return v, r.err
}

// ParseGroup reads the value of a group.
func ParseGroup(value []byte) (GroupValue, error) {
	r := reader{b: value}
	version := r.int16()
	v, ok := readGroup(&r, version)
	if r.err == nil && !ok {
		return v, fmt.Errorf("%w: value of version %d", ErrUnknown, version)
	}
	return v, r.err
}

// latestValue is the newest version of the values of offsets and of groups,
// which is the one that is flexible.
const latestValue = 4

func readOffsetKey(r *reader) OffsetKey { return OffsetKey{r.must(), r.must(), r.int32()} }

func readOffset(r *reader, version int16) (v OffsetValue, ok bool) {
	if version < 0 || version > latestValue {
		return v, false
	}
	r.flexible = version >= latestValue
	v.LeaderEpoch, v.ExpireTimestamp = -1, -1
	v.Offset = r.int64()
	if version >= 3 {
		v.LeaderEpoch = r.int32()
	}
	v.Metadata, v.CommitTimestamp = r.must(), r.int64()
	if version == 1 {
		v.ExpireTimestamp = r.int64()
	}
	r.tags(map[int]func(*reader){0: func(r *reader) { copy(v.TopicID[:], r.take(len(v.TopicID))) }})
	return v, true
}

func readGroup(r *reader, version int16) (v GroupValue, ok bool) {
	if version < 0 || version > latestValue {
		return v, false
	}
	r.flexible = version >= latestValue
	v = GroupValue{ProtocolType: r.must(), Generation: r.int32(), Protocol: r.text(), Leader: r.text(), CurrentStateTimestamp: -1}
	if version >= 2 {
		v.CurrentStateTimestamp = r.int64()
	}
	v.Members = array(r, func(r *reader) (m MemberValue) {
		m.MemberID, m.RebalanceTimeout = r.must(), -1
		if version >= 3 {
			m.GroupInstanceID = r.text()
		}
		m.ClientID, m.ClientHost = r.must(), r.must()
		if version >= 1 {
			m.RebalanceTimeout = r.int32()
		}
		m.SessionTimeout = r.int32()
		m.Subscription, m.Assignment = r.bytes(), r.bytes()
		r.tags(nil)
		return m
	})
	r.tags(nil)
	return v, true
}

// Append appends the key to b, as type 1.
func (k OffsetKey) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, 1)
	b = appendText(appendText(b, k.Group), k.Topic)
	return binary.BigEndian.AppendUint32(b, uint32(k.Partition))
}

// AppendGroupKey appends the key of a group to b.
func AppendGroupKey(b []byte, group string) []byte {
	return appendText(binary.BigEndian.AppendUint16(b, 2), group)
}

// Append appends the offset to b as Kafka 4.4 writes it: version 4, or 1 if it
// says when it expires.
func (v OffsetValue) Append(b []byte) []byte {
	if v.ExpireTimestamp >= 0 {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(b, 1), uint64(v.Offset))
		b = appendText(b, v.Metadata)
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, uint64(v.CommitTimestamp)), uint64(v.ExpireTimestamp))
	}
	b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(b, latestValue), uint64(v.Offset))
	b = binary.BigEndian.AppendUint32(b, uint32(v.LeaderEpoch))
	b = append(binary.AppendUvarint(b, uint64(len(v.Metadata)+1)), v.Metadata...)
	b = binary.BigEndian.AppendUint64(b, uint64(v.CommitTimestamp))
	if v.TopicID == ([16]byte{}) {
		return append(b, 0)
	}
	return append(append(b, 1, 0, byte(len(v.TopicID))), v.TopicID[:]...)
}

// Append appends the group to b as Kafka 4.4 writes it, version 3.
func (v GroupValue) Append(b []byte) []byte {
	b = appendText(binary.BigEndian.AppendUint16(b, 3), v.ProtocolType)
	b = binary.BigEndian.AppendUint32(b, uint32(v.Generation))
	b = appendMaybe(appendMaybe(b, v.Protocol), v.Leader)
	b = binary.BigEndian.AppendUint64(b, uint64(v.CurrentStateTimestamp))
	b = binary.BigEndian.AppendUint32(b, uint32(len(v.Members)))
	for _, m := range v.Members {
		b = appendMaybe(appendText(b, m.MemberID), m.GroupInstanceID)
		b = appendText(appendText(b, m.ClientID), m.ClientHost)
		b = binary.BigEndian.AppendUint32(b, uint32(m.RebalanceTimeout))
		b = binary.BigEndian.AppendUint32(b, uint32(m.SessionTimeout))
		b = appendBytes(appendBytes(b, m.Subscription), m.Assignment)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

func appendMaybe(b []byte, s *string) []byte {
	if s == nil {
		return binary.BigEndian.AppendUint16(b, 0xffff)
	}
	return appendText(b, *s)
}

func appendBytes(b, s []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}
