package differential

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// difference is what two brokers answer differently.
type difference struct {
	step int // the last one
	text string
	kind string // which API's, and in which fields
}

// bench has both brokers; conversations may be had at the same time.
type bench struct {
	brokers [2]*broker // Kafka, and the one that is held against it
	fences  [2]*fence
	quiet   time.Duration // without an answer, until those that are not there are taken to wait
}

// talk has a conversation with both brokers. It ends at the first difference.
// compared counts the answers that were the same.
func (b *bench) talk(c conversation, prefix string) (d *difference, compared int, err error) {
	return b.talkAloud(c, prefix, nil)
}

// talkAloud says each request.
func (b *bench) talkAloud(c conversation, prefix string, say func(string)) (d *difference, compared int, err error) {
	t := talk{bench: b, say: say}
	for i, broker := range b.brokers {
		if t.worlds[i], err = newWorld(broker, prefix, c.clients); err != nil {
			return nil, 0, err
		}
		defer t.worlds[i].close()
	}
	for i, s := range c.steps {
		t.step = i
		if err := t.take(s); err != nil {
			return nil, t.compared, fmt.Errorf("step %d: %w", i, err)
		}
		if t.found != nil {
			return t.found, t.compared, nil
		}
		if t.over {
			break
		}
	}
	return nil, t.compared, t.leave()
}

// talk is one conversation.
type talk struct {
	*bench
	worlds   [2]*world
	step     int
	compared int
	found    *difference
	over     bool // there is nothing more to compare
	say      func(string)
}

// take takes one step with both brokers, and compares what is answered then.
func (t *talk) take(s step) error {
	var reqs [2]kmsg.Request
	for i, w := range t.worlds {
		c := w.clients[s.client]
		if c.waiting != nil {
			return nil
		}
		if c.conn.closed() {
			if err := w.connect(c); err != nil {
				return err
			}
		}
		if reqs[i] = s.make(w, c); reqs[i] == nil {
			return nil
		}
	}
	if t.say != nil {
		t.say(fmt.Sprintf("c%d: %s", s.client, told(reqs[0], t.worlds[0].names)))
	}
	if silent(reqs[0]) {
		return t.tell(s, reqs)
	}
	for i, w := range t.worlds {
		c := w.clients[s.client]
		c.waiting = c.conn.send(reqs[i])
	}
	t.settle(s)
	if notes(reqs[0]) {
		if err := t.pass(); err != nil {
			return err
		}
		t.settle(s)
	}
	t.compare()
	return nil
}

// tell sends requests that have no answer. A broker closes the connection if
// there is an error.
func (t *talk) tell(s step, reqs [2]kmsg.Request) error {
	var outcome [2]string
	for i, w := range t.worlds {
		c := w.clients[s.client]
		outcome[i] = "goes on"
		if err := c.conn.tell(reqs[i]); errors.Is(err, errClosed) {
			outcome[i] = errClosed.Error()
			for _, q := range c.sequences {
				q.sent = nil
			}
		} else if err != nil {
			return err
		}
	}
	if t.compared++; outcome[0] != outcome[1] {
		t.differ(s.client, reqs[0], [2][]line{{{"connection", outcome[0]}}, {{"connection", outcome[1]}}})
	}
	return nil
}

// pass waits until both brokers have done what they agreed to.
func (t *talk) pass() error {
	for i, w := range t.worlds {
		if err := t.fences[i].pass(w.broker); err != nil {
			return err
		}
		if err := w.learnIDs(); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until the same clients have answers from both brokers, the one
// that took the step among them unless it may wait.
func (t *talk) settle(s step) {
	deadline, last, had := time.Now().Add(patience), time.Now(), -1
	for {
		same, waiting, answers := true, false, 0
		for i, c := range t.worlds[0].clients {
			first, second := c.waits(), t.worlds[1].clients[i].waits()
			same = same && first == second
			waiting = waiting || first || second
			for _, w := range t.worlds {
				if c := w.clients[i]; c.waiting != nil && !c.waits() {
					answers++
				}
			}
		}
		if answers != had {
			last, had = time.Now(), answers
		}
		stepped := s.parks || !t.worlds[0].clients[s.client].waits()
		if same && stepped && (!waiting || time.Since(last) > t.quiet) || time.Now().After(deadline) {
			break
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// compare takes the answers that have come.
func (t *talk) compare() {
	for i := range t.worlds[0].clients {
		var all [2][]line
		var req kmsg.Request
		for j, w := range t.worlds {
			c := w.clients[i]
			if c.waiting == nil {
				continue
			}
			if req = c.waiting.req; c.waits() {
				all[j] = []line{{"(answer)", "none"}}
				continue
			}
			all[j] = w.answer(c)
		}
		if req == nil || all[0] == nil || all[1] == nil {
			continue
		}
		if t.worlds[0].clients[i].waiting != nil && t.worlds[1].clients[i].waiting != nil {
			continue // both wait
		}
		if t.over = t.over || t.otherLeader(req); t.over {
			return
		}
		t.compared++
		apply(req, &all)
		if t.differ(i, req, all); t.found != nil {
			return
		}
	}
}

// otherLeader tells that a group whose leader is gone has another one with Kafka,
// which takes the first by the hashes of their ids: the conversation cannot go on.
func (t *talk) otherLeader(req kmsg.Request) bool {
	join, ok := req.(*kmsg.JoinGroupRequest)
	if !ok {
		return false
	}
	var leads [2]leadership
	for i, w := range t.worlds {
		leads[i] = w.leads[join.Group]
	}
	name := func(i int) string { return t.worlds[i].names.text("", leads[i].now, true) }
	return leads[0].generation == leads[1].generation && leads[0].before != "" && leads[0].before != leads[0].now && name(0) != name(1)
}

// answer takes a client's answer.
func (w *world) answer(c *client) []line {
	p := c.waiting
	c.waiting = nil
	if p.err != nil {
		return []line{{"(answer)", p.err.Error()}}
	}
	w.learn(c, p.req, p.resp)
	w.own(p.req, p.resp)
	merge(p.resp)
	return lines(p.resp, w.names)
}

// differ notes a difference, if there is one.
func (t *talk) differ(client int, req kmsg.Request, all [2][]line) {
	fields, paths := unlike(all[0], all[1])
	if len(fields) == 0 {
		return
	}
	w := t.worlds[0]
	t.found = &difference{step: t.step, kind: kmsg.NameForKey(req.Key()) + paths,
		text: fmt.Sprintf("c%d's %s differs:\n    %s", client, told(req, w.names), strings.Join(fields, "\n    "))}
}

// told is a request in one line, with what its version has of it. Names that no
// answer had yet get no number by it.
func told(req kmsg.Request, n *names) string {
	sent := kmsg.RequestForKey(req.Key())
	sent.SetVersion(req.GetVersion())
	_ = sent.ReadFrom(req.AppendTo(nil))
	w := walker{names: n, ordered: true, look: true}
	w.value("", "", reflect.ValueOf(sent).Elem())
	var b strings.Builder
	fmt.Fprintf(&b, "%s v%d", kmsg.NameForKey(req.Key()), req.GetVersion())
	for _, l := range w.lines {
		if !strings.HasSuffix(l.value, " of them") {
			fmt.Fprintf(&b, " %s=%s", l.path, l.value)
		}
	}
	return b.String()
}
