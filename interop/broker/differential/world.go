package differential

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// broker is one of the two.
type broker struct {
	name, addr string
	admin      *conn // for what is no part of a conversation
}

// world is a broker as one conversation knows it.
type world struct {
	*broker
	prefix  string
	names   *names
	clients []*client
	ids     map[string][][16]byte // of topics by their names, the last one of now
	leads   map[string]leadership // by group
}

// leadership is who leads a group, and led it before.
type leadership struct {
	generation  int32
	now, before string
}

// client is what a client remembers: of every broker its own.
type client struct {
	id      string
	conn    *conn
	waiting *pending // at most one request at a time

	memberships map[string]*membership // by group
	producer    int64
	epoch       int16
	sequences   map[partition]*sequences
	session     int32
	sessionNext int32
}

type partition struct {
	topic string
	index int32
}

// membership is a client's place in a group.
type membership struct {
	id         string
	generation int32
	leader     bool
	protocol   string
	members    []kmsg.JoinGroupResponseMember // if it is the leader
}

// sequences are those of a producer in a partition.
type sequences struct {
	next  int32
	past  []run // what was taken
	sent  *run  // what has not been answered
	again bool  // what was sent had been taken before
}

type run struct{ first, count int32 }

func newWorld(b *broker, prefix string, clients int) (*world, error) {
	port := b.addr[len("127.0.0.1:"):]
	w := &world{broker: b, prefix: prefix, names: newNames(prefix, port), ids: map[string][][16]byte{}, leads: map[string]leadership{}}
	for i := range clients {
		c := newClient(i)
		w.clients = append(w.clients, c)
		if err := w.connect(c); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

func newClient(i int) *client {
	return &client{id: "c" + strconv.Itoa(i), memberships: map[string]*membership{}, sequences: map[partition]*sequences{}, producer: noProducer}
}

func (w *world) connect(c *client) (err error) {
	c.conn, err = dial(w.addr, c.id)
	return err
}

func (w *world) close() {
	for _, c := range w.clients {
		if c.conn != nil {
			c.conn.close()
		}
	}
}

// waits tells whether a client has not got its answer yet.
func (c *client) waits() bool { return c.waiting != nil && !c.waiting.answered() }

// member is a client's place in a group, whether or not it has joined.
func (c *client) member(group string) *membership {
	if c.memberships[group] == nil {
		c.memberships[group] = &membership{generation: -1}
	}
	return c.memberships[group]
}

func (c *client) sequence(p partition) *sequences {
	if c.sequences[p] == nil {
		c.sequences[p] = &sequences{}
	}
	return c.sequences[p]
}

// id is the id of a topic now, or in the life before, or one that no topic has.
func (w *world) id(topic string, before bool) [16]byte {
	ids := w.ids[topic]
	if before && len(ids) > 1 {
		return ids[len(ids)-2]
	}
	if len(ids) > 0 && !before {
		return ids[len(ids)-1]
	}
	return [16]byte{15: 1, 14: 2, 13: 3, 12: 4}
}

// topicOf is the topic whose id it was last, if any.
func (w *world) topicOf(id [16]byte) string {
	for topic, ids := range w.ids {
		if len(ids) > 0 && ids[len(ids)-1] == id {
			return topic
		}
	}
	return ""
}
