package differential

import "github.com/twmb/franz-go/pkg/kmsg"

// learn keeps what a client remembers of an answer.
func (w *world) learn(c *client, req kmsg.Request, resp kmsg.Response) {
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		group := req.(*kmsg.JoinGroupRequest).Group
		c.member(group).joined(resp)
		if was := w.leads[group]; resp.ErrorCode == 0 && resp.Generation != was.generation {
			w.leads[group] = leadership{resp.Generation, resp.LeaderID, was.now}
		}
	case *kmsg.InitProducerIDResponse:
		if resp.ErrorCode == 0 {
			c.producer, c.epoch = resp.ProducerID, resp.ProducerEpoch
			c.sequences = map[partition]*sequences{}
		}
	case *kmsg.ProduceResponse:
		for _, t := range resp.Topics {
			topic := t.Topic
			if resp.Version >= 13 {
				topic = w.topicOf(t.TopicID)
			}
			for _, p := range t.Partitions {
				c.sequence(partition{topic, p.Partition}).produced(p.ErrorCode)
			}
		}
	case *kmsg.FetchResponse:
		c.fetched(req.(*kmsg.FetchRequest), resp)
	}
}

const memberIDRequired = 79

func (m *membership) joined(resp *kmsg.JoinGroupResponse) {
	switch resp.ErrorCode {
	case 0:
		*m = membership{id: resp.MemberID, generation: resp.Generation, leader: resp.LeaderID == resp.MemberID, members: resp.Members}
		if resp.Protocol != nil {
			m.protocol = *resp.Protocol
		}
	case memberIDRequired:
		m.id = resp.MemberID
	}
}

func (s *sequences) produced(code int16) {
	if s.sent != nil && code == 0 && !s.again {
		s.past = append(s.past, *s.sent)
		s.next = s.sent.first + s.sent.count
	}
	s.sent = nil
}

func (c *client) fetched(req *kmsg.FetchRequest, resp *kmsg.FetchResponse) {
	switch {
	case resp.ErrorCode != 0:
	case req.SessionEpoch == 0:
		c.session, c.sessionNext = resp.SessionID, 1
	case req.SessionEpoch > 0 && req.SessionID == c.session:
		c.sessionNext++
	}
}
