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
		return nil, nil
	})
}

func offsetKey(r *reader) any {
	return struct {
		Group     string `json:"group"`
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
	}{r.must(), r.must(), r.int32()}
}

func offsetValue(r *reader, version int16) any {
	const flexible, latest = 4, 4
	if version < 0 || version > latest {
		return nil
	}
	var v struct {
		Offset          int64   `json:"offset"`
		LeaderEpoch     *int32  `json:"leaderEpoch,omitempty"` // 3+
		Metadata        string  `json:"metadata"`
		CommitTimestamp int64   `json:"commitTimestamp"`
		ExpireTimestamp *int64  `json:"expireTimestamp,omitempty"` // 1
		TopicID         *string `json:"topicId,omitempty"`         // 4+, tag 0
	}
	r.flexible = version >= flexible
	v.Offset = r.int64()
	if version >= 3 {
		v.LeaderEpoch = new(r.int32())
	}
	v.Metadata, v.CommitTimestamp = r.must(), r.int64()
	if version == 1 {
		v.ExpireTimestamp = new(r.int64())
	}
	r.tags(map[int]func(*reader){0: func(r *reader) {
		v.TopicID = new(base64.RawURLEncoding.EncodeToString(r.take(16)))
	}})
	return v
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
	const flexible, latest = 4, 4
	if version < 0 || version > latest {
		return nil
	}
	r.flexible = version >= flexible
	g := group{ProtocolType: r.must(), Generation: r.int32(), Protocol: r.text(), Leader: r.text()}
	if version >= 2 {
		g.CurrentStateTimestamp = new(r.int64())
	}
	g.Members = array(r, func(r *reader) (m member) {
		m.MemberID = r.must()
		if version >= 3 {
			m.GroupInstanceID = r.text() // a nil *string, and so null
		}
		m.ClientID, m.ClientHost = r.must(), r.must()
		if version >= 1 {
			m.RebalanceTimeout = new(r.int32())
		}
		m.SessionTimeout = r.int32()
		m.Subscription, m.Assignment = protocol(g.ProtocolType, r.bytes(), subscription), protocol(g.ProtocolType, r.bytes(), assignment)
		r.tags(nil)
		return m
	})
	r.tags(nil)
	return g
}
