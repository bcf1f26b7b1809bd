package record

import (
	"encoding/binary"
	"fmt"
)

// ControlType is what a control record says. Types unknown to this version
// are kept as they are, to be ignored.
type ControlType int16

const (
	ControlAbort          ControlType = 0 // a transaction ended: its records do not count
	ControlCommit         ControlType = 1 // a transaction ended: its records count
	ControlLeaderChange   ControlType = 2 // KRaft
	ControlSnapshotHeader ControlType = 3
	ControlSnapshotFooter ControlType = 4
	ControlKRaftVersion   ControlType = 5
	ControlKRaftVoters    ControlType = 6
)

var controlNames = [...]string{"ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS"}

// String gives Kafka's name of the type.
func (t ControlType) String() string {
	if t >= 0 && int(t) < len(controlNames) {
		return controlNames[t]
	}
	return fmt.Sprintf("ControlType(%d)", int16(t))
}

const (
	controlKeySize  = 4 // int16 version, int16 type
	endTxnValueSize = 6 // int16 version, int32 coordinator epoch
)

// ParseControl reads the key of a control record. Later versions may append
// to it, so longer keys and larger versions are read for what is known of
// them. The error is ErrCorrupt.
func ParseControl(key []byte) (ControlType, error) {
	if len(key) < controlKeySize {
		return 0, corruptf("control key of %d bytes, want at least %d", len(key), controlKeySize)
	}
	if v := int16(binary.BigEndian.Uint16(key)); v < 0 {
		return 0, corruptf("control key version %d", v)
	}
	return ControlType(binary.BigEndian.Uint16(key[2:])), nil
}

// ControlKey is the inverse of [ParseControl], in version 0.
func ControlKey(t ControlType) []byte {
	return binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(t))
}

// ParseEndTxn reads the value of a [ControlAbort] or [ControlCommit] record:
// the epoch of the transaction coordinator that decided. It is as tolerant
// as [ParseControl]. The error is ErrCorrupt.
func ParseEndTxn(value []byte) (coordinatorEpoch int32, err error) {
	if len(value) < endTxnValueSize {
		return 0, corruptf("end of transaction of %d bytes, want at least %d", len(value), endTxnValueSize)
	}
	if v := int16(binary.BigEndian.Uint16(value)); v < 0 {
		return 0, corruptf("end of transaction version %d", v)
	}
	return int32(binary.BigEndian.Uint32(value[2:])), nil
}

// EndTxnValue is the inverse of [ParseEndTxn], in version 0.
func EndTxnValue(coordinatorEpoch int32) []byte {
	return binary.BigEndian.AppendUint32([]byte{0, 0}, uint32(coordinatorEpoch))
}
