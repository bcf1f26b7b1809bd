package coordinator

import "encoding/base64"

// protocol reads what members of a group told each other through the
// coordinator, for whom it is opaque: of consumers it is known. What is not is
// written in base64.
func protocol(kind string, b []byte, read func(r *reader, version int16) any) any {
	if kind == "consumer" && len(b) > 0 {
		r := reader{b: b}
		if v := read(&r, r.int16()); r.err == nil {
			return v
		}
	}
	return base64.StdEncoding.EncodeToString(b)
}

type topicPartitions struct {
	Topic      string  `json:"topic"`
	Partitions []int32 `json:"partitions"`
}

func readTopicPartitions(r *reader) topicPartitions {
	return topicPartitions{r.must(), array(r, (*reader).int32)}
}

// latestProtocol is the newest version of both structs; a newer one begins with
// the same fields.
const latestProtocol = 3

func subscription(r *reader, version int16) any {
	version = min(version, latestProtocol)
	var s struct {
		Topics          []string           `json:"topics"`
		UserData        []byte             `json:"userData"`
		OwnedPartitions *[]topicPartitions `json:"ownedPartitions,omitempty"` // 1+
		GenerationID    *int32             `json:"generationId,omitempty"`    // 2+
		RackID          any                `json:"rackId,omitempty"`          // 3+
	}
	s.Topics, s.UserData = array(r, (*reader).must), r.bytes()
	if version >= 1 {
		s.OwnedPartitions = new(array(r, readTopicPartitions))
	}
	if version >= 2 {
		s.GenerationID = new(r.int32())
	}
	if version >= 3 {
		s.RackID = r.text()
	}
	return s
}

func assignment(r *reader, _ int16) any {
	return struct {
		AssignedPartitions []topicPartitions `json:"assignedPartitions"`
		UserData           []byte            `json:"userData"`
	}{array(r, readTopicPartitions), r.bytes()}
}
