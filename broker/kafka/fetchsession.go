package kafka

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
)

// sessions are the fetch sessions of all clients (KIP-227): with one a client
// says only what changes in what it wants, and is told only what is new. They end
// with the process.
type sessions struct {
	slots int
	mu    struct {
		sync.Mutex
		byID map[int32]*session
	}
}

// session is what one client wants.
type session struct {
	id   int32
	used time.Time // guarded by sessions.mu

	mu struct {
		sync.Mutex
		epoch int32 // of the next request
		byID  bool
		parts []*fetchPart // in the order in which they are served
		ended bool
	}
}

// fetchPart is a partition that is wanted.
type fetchPart struct {
	topic     string // "" if by id
	id        broker.TopicID
	byID      bool
	partition int32
	name      string // of the topic, once it was found

	offset       int64
	maxBytes     int32
	currentEpoch int32
	lastEpoch    int32

	unknown   bool // when the request came
	diverging *kmsg.FetchResponseTopicPartitionDivergingEpoch
	told      bool // the watermarks below were
	high      int64
	first     int64
}

// stale is after what time without use a session gives way to another.
const stale = 2 * time.Minute

func newSessions(slots int) *sessions {
	s := &sessions{slots: slots}
	s.mu.byID = make(map[int32]*session)
	return s
}

// fetching is one fetch, of a session or without.
type fetching struct {
	id      int32 // of the session, as the answer tells; 0 for none
	parts   []*fetchPart
	of      *session // locked; nil without
	partial bool     // the answer tells only what is new
	data    []*fetchPart
	told    []*fetchPart
}

// begin finds out what a request wants. end has to be called.
func (s *sessions) begin(q *call, req *kmsg.FetchRequest) (*fetching, error) {
	id, epoch := req.SessionID, req.SessionEpoch
	if q.version < 7 {
		id, epoch = 0, -1
	}
	switch {
	case epoch == -1 || epoch == 0: // all that is wanted, in a session to be or not to be
		if id != 0 {
			s.remove(id)
		}
		f := &fetching{parts: parts(q, req)}
		if epoch == 0 {
			if made := s.add(q.version >= 13); made != nil {
				made.mu.Lock()
				made.mu.parts = unique(f.parts)
				f.parts = slices.Clone(made.mu.parts)
				f.of, f.id = made, made.id
				return f, nil
			}
		}
		f.parts = unique(f.parts)
		return f, nil
	case id == 0:
		return nil, kerr.FetchSessionIDNotFound
	}
	return s.resume(q, req, id, epoch)
}

// parts are the partitions that a request names.
func parts(q *call, req *kmsg.FetchRequest) []*fetchPart {
	var list []*fetchPart
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			list = append(list, &fetchPart{
				topic: t.Topic, id: t.TopicID, byID: q.version >= 13, partition: p.Partition,
				offset: p.FetchOffset, maxBytes: p.PartitionMaxBytes, currentEpoch: p.CurrentLeaderEpoch, lastEpoch: p.LastFetchedEpoch,
			})
		}
	}
	return list
}

func (p *fetchPart) key() partitionKey { return partitionKey{p.topic, p.id, p.partition} }

// unique leaves of each partition the place of the first mention, with what the
// last one says.
func unique(list []*fetchPart) []*fetchPart {
	if len(list) < 2 {
		return list
	}
	at := make(map[partitionKey]int, len(list))
	var kept []*fetchPart
	for _, p := range list {
		if i, ok := at[p.key()]; ok {
			kept[i] = p
			continue
		}
		at[p.key()] = len(kept)
		kept = append(kept, p)
	}
	return kept
}

// add makes a session, nil if there is no room for another.
func (s *sessions) add(byID bool) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mu.byID) >= s.slots && !s.evictLocked() {
		return nil
	}
	one := &session{used: time.Now()}
	for one.id == 0 || s.mu.byID[one.id] != nil {
		one.id = rand.Int32N(math.MaxInt32) + 1
	}
	one.mu.epoch, one.mu.byID = 1, byID
	s.mu.byID[one.id] = one
	return one
}

// evictLocked takes out the session that was not used for longest, if that is
// long enough.
func (s *sessions) evictLocked() bool {
	var oldest *session
	for _, one := range s.mu.byID {
		if oldest == nil || one.used.Before(oldest.used) {
			oldest = one
		}
	}
	if oldest == nil || time.Since(oldest.used) < stale {
		return false
	}
	delete(s.mu.byID, oldest.id)
	return true
}

func (s *sessions) remove(id int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.byID, id)
}

func (s *sessions) find(id int32) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.mu.byID[id]
	if one != nil {
		one.used = time.Now()
	}
	return one
}

// resume takes the changes of a request into its session.
func (s *sessions) resume(q *call, req *kmsg.FetchRequest, id, epoch int32) (*fetching, error) {
	one := s.find(id)
	if one == nil {
		return nil, kerr.FetchSessionIDNotFound
	}
	one.mu.Lock()
	switch {
	case one.mu.ended:
		one.mu.Unlock()
		return nil, kerr.FetchSessionIDNotFound
	case one.mu.epoch != epoch:
		one.mu.Unlock()
		return nil, kerr.InvalidFetchSessionEpoch
	case one.mu.byID != (q.version >= 13):
		one.mu.Unlock()
		return nil, kerr.FetchSessionTopicIDError
	}
	if one.mu.epoch++; one.mu.epoch <= 0 {
		one.mu.epoch = 1
	}
	one.take(parts(q, req))
	one.forget(req.ForgottenTopics)
	if len(one.mu.parts) == 0 { // what is asked for and forgotten is answered once more
		one.mu.ended = true
		one.mu.Unlock()
		s.remove(id)
		return &fetching{parts: parts(q, req)}, nil
	}
	return &fetching{id: id, of: one, partial: true, parts: slices.Clone(one.mu.parts)}, nil
}

func (one *session) take(changes []*fetchPart) {
	at := make(map[partitionKey]*fetchPart, len(one.mu.parts))
	for _, p := range one.mu.parts {
		at[p.key()] = p
	}
	for _, c := range changes {
		if p := at[c.key()]; p != nil {
			p.offset, p.maxBytes, p.currentEpoch, p.lastEpoch = c.offset, c.maxBytes, c.currentEpoch, c.lastEpoch
			continue
		}
		at[c.key()] = c
		one.mu.parts = append(one.mu.parts, c)
	}
}

func (one *session) forget(topics []kmsg.FetchRequestForgottenTopic) {
	if len(topics) == 0 {
		return
	}
	gone := make(map[partitionKey]bool)
	for _, t := range topics {
		for _, p := range t.Partitions {
			gone[partitionKey{t.Topic, t.TopicID, p}] = true
		}
	}
	one.mu.parts = slices.DeleteFunc(one.mu.parts, func(p *fetchPart) bool { return gone[p.key()] })
}

// tells says whether the answer is to tell of a part, and takes note that it does.
func (f *fetching) tells(p *fetchPart, r *broker.Fetched) bool {
	news := !f.partial || !p.told || r.Err != nil || r.View != nil || p.high != r.HighWatermark || p.first != r.First
	p.told, p.high, p.first = r.Err == nil, r.HighWatermark, r.First
	if r.View != nil {
		f.data = append(f.data, p)
	}
	if news {
		f.told = append(f.told, p)
	}
	return news
}

// end ends the fetch. A session begins with its partitions in the order of the
// first answer; of those after it, partitions that had records are served last
// the next time.
func (f *fetching) end() {
	if f.of == nil {
		return
	}
	if !f.partial && len(f.told) == len(f.of.mu.parts) {
		f.of.mu.parts = f.told
	}
	if len(f.data) > 0 && f.partial {
		had := make(map[*fetchPart]bool, len(f.data))
		for _, p := range f.data {
			had[p] = true
		}
		f.of.mu.parts = append(slices.DeleteFunc(f.of.mu.parts, func(p *fetchPart) bool { return had[p] }), f.data...)
	}
	for _, p := range f.of.mu.parts {
		p.diverging = nil
	}
	f.of.mu.Unlock()
}
