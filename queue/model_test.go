package queue

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seglog/seglog/internal/vfs"
)

var seeds = flag.Int("seeds", 150, "how many seeds TestModel tries")

// TestModel: over random pushes, deliveries, acks, nacks and time, kills, cuts of
// power, clean closes and the death of the machine at any call of the file
// system: what was pushed is delivered until it is acknowledged, and not after;
// with ByKey in order.
func TestModel(t *testing.T) {
	first := rand.Uint64()
	for i := range *seeds {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { newModel(t, seed).run() })
	}
}

// model is what a queue has to be.
type model struct {
	t         *testing.T
	rng       *rand.Rand
	mem       *vfs.Mem
	clock     time.Time
	o         Options
	q         *Queue
	pushed    map[int64]string // by offset, those acknowledged
	maybe     map[int64]string // those in doubt since a crash
	consumers map[string]*modelConsumer
	dying     func()   // called before a file system call
	dead      *vfs.Mem // what is left after a death inside an operation
	log       []string
}

type modelConsumer struct {
	acked map[int64]bool // acknowledged
	doubt map[int64]bool // in doubt since a crash
	out   map[int64]Message
	until map[int64]time.Time // it is out
	given map[int64]int       // deliveries
}

func newModel(t *testing.T, seed uint64) *model {
	rng := rand.New(rand.NewPCG(seed, 3))
	m := &model{t: t, rng: rng, mem: vfs.NewMem(), clock: time.UnixMilli(1_800_000_000_000),
		pushed: make(map[int64]string), maybe: make(map[int64]string), consumers: make(map[string]*modelConsumer)}
	m.o = Options{Durability: Durability(rng.IntN(2)), Order: Order(rng.IntN(2)), Visibility: time.Minute, SegmentBytes: 4 << 10}
	m.o.Env.Now = func() time.Time { return m.clock }
	for i := range 1 + rng.IntN(2) {
		m.consumers[fmt.Sprint("c", i)] = &modelConsumer{acked: make(map[int64]bool), doubt: make(map[int64]bool),
			out: make(map[int64]Message), until: make(map[int64]time.Time), given: make(map[int64]int)}
	}
	m.note("durability %d, order %d", m.o.Durability, m.o.Order)
	m.open()
	return m
}

func (m *model) note(format string, args ...any) { m.log = append(m.log, fmt.Sprintf(format, args...)) }

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	for _, line := range m.log {
		m.t.Log(line)
	}
	m.t.Fatalf(format, args...)
}

func (m *model) open() {
	fs := vfs.NewFaulty(m.mem)
	fs.Trace = func(vfs.Call) {
		if m.dying != nil {
			m.dying()
		}
	}
	m.o.Env.FS = fs
	var err error
	if m.q, err = open(context.Background(), "q", m.o); err != nil {
		m.fail("open: %v", err)
	}
}

func (m *model) run() {
	for range 60 {
		switch n := m.rng.IntN(100); {
		case n < 30:
			m.push()
		case n < 55:
			m.next(m.anyone())
		case n < 75:
			m.settle(m.anyone())
		case n < 80:
			m.clock = m.clock.Add(time.Duration(m.rng.IntN(40)) * time.Second)
		case n < 83:
			m.upkeep()
		case n < 86:
			m.reopen()
		case n < 90:
			m.crash(m.rng.IntN(2) == 0)
		case n < 97:
			m.crashInside()
		default:
			m.drain()
		}
	}
	m.drain()
	m.reopen()
	m.drain()
	if err := m.q.Close(); err != nil {
		m.fail("close: %v", err)
	}
}

func (m *model) anyone() string { return fmt.Sprint("c", m.rng.IntN(len(m.consumers))) }

// push pushes up to three messages. Of a death meanwhile the outcome is open.
func (m *model) push() {
	var messages []Message
	for range 1 + m.rng.IntN(3) {
		msg := Message{Value: fmt.Append(nil, m.rng.Uint64())}
		if k := m.rng.IntN(4); k < 3 {
			msg.Key = fmt.Append(nil, "k", k)
		}
		if m.rng.IntN(6) == 0 {
			msg.NotBefore = m.clock.Add(time.Duration(m.rng.IntN(90)) * time.Second)
		}
		messages = append(messages, msg)
	}
	end := m.q.log.End()
	first, err := m.q.PushBatch(context.Background(), messages...)
	m.note("push %d at %d: %v", len(messages), first, err)
	into := m.pushed
	if m.died() {
		into = m.maybe
		first = end
	} else if err != nil || first != end {
		m.fail("push: %d, %v, want offset %d", first, err, end)
	}
	for i := range messages {
		into[first+int64(i)] = value(messages[i])
	}
}

// value is all that is to come out as it went in.
func value(m Message) string {
	return fmt.Sprintf("%s=%s not before %d", m.Key, m.Value, m.NotBefore.UnixMilli())
}

// next takes a message, if there is one, and holds it against everything.
func (m *model) next(name string) bool {
	c := m.consumers[name]
	msg, ok, err := m.q.TryNext(name)
	if m.died() {
		return false
	}
	if err != nil {
		m.fail("next: %v", err)
	}
	if !ok {
		return false
	}
	m.note("%s gets %d, time %d", name, msg.Offset, msg.Deliveries)
	want, known := m.pushed[msg.Offset]
	if !known {
		if want, known = m.maybe[msg.Offset]; known {
			m.pushed[msg.Offset] = want // it was
			delete(m.maybe, msg.Offset)
		}
	}
	switch {
	case !known || want != value(msg):
		m.fail("%s got %d: %s, pushed was %q", name, msg.Offset, value(msg), want)
	case c.acked[msg.Offset]:
		m.fail("%s got %d, which it had acknowledged", name, msg.Offset)
	case msg.NotBefore.After(m.clock):
		m.fail("%s got %d at %v", name, msg.Offset, m.clock)
	}
	if _, out := c.out[msg.Offset]; out && c.until[msg.Offset].After(m.clock) {
		m.fail("%s got %d while it is out", name, msg.Offset)
	}
	if c.given[msg.Offset]++; msg.Deliveries < c.given[msg.Offset] {
		m.fail("%s got %d for the %d. time, it says %d", name, msg.Offset, c.given[msg.Offset], msg.Deliveries)
	}
	if m.o.Order == ByKey && msg.Key != nil {
		for offset, v := range m.pushed {
			if offset < msg.Offset && !c.acked[offset] && !c.doubt[offset] && v[:3] == value(msg)[:3] {
				m.fail("%s got %d before %d of the same key", name, msg.Offset, offset)
			}
		}
	}
	c.out[msg.Offset], c.until[msg.Offset] = msg, m.clock.Add(m.o.Visibility)
	return true
}

// settle acknowledges or gives back something that is out.
func (m *model) settle(name string) {
	c := m.consumers[name]
	for _, offset := range slices.Sorted(maps.Keys(c.out)) {
		msg := c.out[offset]
		if m.rng.IntN(2) == 0 {
			continue
		}
		if m.rng.IntN(4) > 0 {
			err := msg.Ack()
			m.note("%s acks %d: %v", name, offset, err)
			switch {
			case m.died():
				c.doubt[offset] = true
			case err != nil:
				m.fail("ack: %v", err)
			default:
				c.acked[offset] = true
				if err := msg.Ack(); err != nil {
					m.fail("the second ack: %v", err)
				}
			}
		} else {
			err := msg.Nack(time.Duration(m.rng.IntN(3)) * 20 * time.Second)
			m.note("%s nacks %d: %v", name, offset, err)
			if err != nil && !m.died() {
				m.fail("nack: %v", err)
			}
			if err := msg.Ack(); !errors.Is(err, ErrExpired) && !m.died() {
				m.fail("ack after nack: %v", err)
			}
		}
		delete(c.out, offset)
		return
	}
}

func (m *model) upkeep() {
	m.note("upkeep")
	for _, f := range []func() error{
		func() error { _, err := m.q.dropConsumed(); return err },
		func() error { return m.q.restatePlaces(context.Background()) },
	} {
		if err := f(); err != nil && !m.died() {
			m.fail("upkeep: %v", err)
		}
	}
}

func (m *model) reopen() {
	m.note("close and open")
	if err := m.q.Close(); err != nil && !m.died() {
		m.fail("close: %v", err)
	}
	if !m.died() {
		m.open()
		m.reopened()
	}
}

// reopened: what was out is not.
func (m *model) reopened() {
	for _, c := range m.consumers {
		clear(c.out)
	}
}

func (m *model) died() bool { return m.dead != nil }

func (m *model) crash(power bool) {
	m.note("crash, power %t", power)
	if power {
		m.restart(m.mem.Crash(m.rng.Uint64()), true)
	} else {
		m.restart(m.mem.Kill(), false)
	}
}

func (m *model) crashInside() {
	left, power := 1+m.rng.IntN(12), m.rng.IntN(2) == 0
	m.dying = func() {
		if left--; left == 0 {
			if power {
				m.dead = m.mem.Crash(m.rng.Uint64())
			} else {
				m.dead = m.mem.Kill()
			}
		}
	}
	what := m.rng.IntN(5)
	m.note("a crash at call %d, power %t", left, power)
	switch what {
	case 0:
		m.push()
	case 1:
		m.next(m.anyone())
	case 2:
		m.settle(m.anyone())
	case 3:
		m.upkeep()
	case 4:
		m.reopen()
	}
	m.dying = nil
	if mem := m.dead; mem != nil {
		m.dead = nil
		m.restart(mem, power)
	}
}

// restart goes on with what a machine left.
func (m *model) restart(mem *vfs.Mem, power bool) {
	old := m.q
	m.mem = mem
	m.open()
	_ = old.Close()
	m.reopened()
	end := m.q.log.End()
	if power {
		for _, c := range m.consumers {
			clear(c.given) // nobody waits for a count to be durable
		}
	}
	if power && m.o.Durability == Appended {
		// What was not durable may be gone, from the end, and any ack.
		for offset := range m.pushed {
			if offset >= end {
				delete(m.pushed, offset)
			}
		}
		for _, c := range m.consumers {
			for offset := range c.acked {
				if delete(c.acked, offset); offset < end {
					c.doubt[offset] = true
				}
			}
		}
	}
	for _, c := range m.consumers {
		for offset := range c.doubt {
			if offset >= end {
				delete(c.doubt, offset)
			}
		}
	}
	for offset := range m.pushed {
		if offset >= end {
			m.fail("%d is gone, the end is %d", offset, end)
		}
	}
	for offset, v := range m.maybe {
		if delete(m.maybe, offset); offset < end {
			m.pushed[offset] = v
		}
	}
}

// drain has every consumer take and acknowledge everything there is.
func (m *model) drain() {
	m.note("drain")
	m.clock = m.clock.Add(time.Hour)
	for _, name := range slices.Sorted(maps.Keys(m.consumers)) {
		c := m.consumers[name]
		clear(c.out)
		for m.next(name) {
			for offset, msg := range c.out {
				if err := msg.Ack(); err != nil {
					m.fail("ack: %v", err)
				}
				c.acked[offset] = true
			}
			clear(c.out)
		}
		for offset := range m.pushed {
			if !c.acked[offset] && !c.doubt[offset] {
				m.fail("%s never got %d", name, offset)
			}
		}
		if depth, err := m.q.Depth(name); depth != 0 || err != nil {
			m.fail("depth of %s is %d, %v", name, depth, err)
		}
	}
}
