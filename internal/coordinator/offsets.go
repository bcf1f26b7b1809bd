package coordinator

import "encoding/base64"

// Offsets decodes a record of __consumer_offsets.
func Offsets(key, value []byte) (keyJSON, valueJSON []byte, err error) {
	return decode(key, value, func(kind int16) (func(*reader) any, func(*reader, int16) any) {
		switch kind {
		case 0, 1:
			return offsetKey, offsetValue
		case 2:
			return groupKey, groupValue
		}
		if g, ok := groupRecords[kind]; ok {
			return g.schemas()
		}
		return nil, nil
	})
}

func offsetKey(r *reader) any { return readOffsetKey(r) }

// offset is a committed offset as it is written.
type offset struct {
	Offset          int64   `json:"offset"`
	LeaderEpoch     *int32  `json:"leaderEpoch,omitempty"` // 3+
	Metadata        string  `json:"metadata"`
	CommitTimestamp int64   `json:"commitTimestamp"`
	ExpireTimestamp *int64  `json:"expireTimestamp,omitempty"` // 1
	TopicID         *string `json:"topicId,omitempty"`         // 4+, tag 0
}

func offsetValue(r *reader, version int16) any {
	v, ok := readOffset(r, version)
	if !ok {
		return nil
	}
	o := offset{Offset: v.Offset, Metadata: v.Metadata, CommitTimestamp: v.CommitTimestamp}
	if version >= 3 {
		o.LeaderEpoch = &v.LeaderEpoch
	}
	if version == 1 {
		o.ExpireTimestamp = &v.ExpireTimestamp
	}
	if v.TopicID != ([16]byte{}) {
		o.TopicID = new(base64.RawURLEncoding.EncodeToString(v.TopicID[:]))
	}
	return o
}

func groupKey(r *reader) any {
	return struct {
		Group string `json:"group"`
	}{r.must()}
}

type group struct {
	ProtocolType          string   `json:"protocolType"`
	Generation            int32    `json:"generation"`
	Protocol              *string  `json:"protocol"`
	Leader                *string  `json:"leader"`
	CurrentStateTimestamp *int64   `json:"currentStateTimestamp,omitempty"` // 2+
	Members               []member `json:"members"`
}

type member struct {
	MemberID         string `json:"memberId"`
	GroupInstanceID  any    `json:"groupInstanceId,omitempty"` // 3+
	ClientID         string `json:"clientId"`
	ClientHost       string `json:"clientHost"`
	RebalanceTimeout *int32 `json:"rebalanceTimeout,omitempty"` // 1+
	SessionTimeout   int32  `json:"sessionTimeout"`
	Subscription     any    `json:"subscription"`
	Assignment       any    `json:"assignment"`
}

func groupValue(r *reader, version int16) any {
	v, ok := readGroup(r, version)
	if !ok {
		return nil
	}
	g := group{ProtocolType: v.ProtocolType, Generation: v.Generation, Protocol: v.Protocol, Leader: v.Leader}
	if version >= 2 {
		g.CurrentStateTimestamp = &v.CurrentStateTimestamp
	}
	if v.Members != nil {
		g.Members = []member{}
	}
	for _, m := range v.Members {
		w := member{MemberID: m.MemberID, ClientID: m.ClientID, ClientHost: m.ClientHost, SessionTimeout: m.SessionTimeout}
		if version >= 3 {
			w.GroupInstanceID = m.GroupInstanceID // a nil *string, and so null
		}
		if version >= 1 {
			w.RebalanceTimeout = &m.RebalanceTimeout
		}
		w.Subscription, w.Assignment = protocol(g.ProtocolType, m.Subscription, subscription), protocol(g.ProtocolType, m.Assignment, assignment)
		g.Members = append(g.Members, w)
	}
	return g
}
