package fuzz

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/queue"
)

// queueEnv names the directory of the queue that a process started by
// TestKillQueue works on.
const queueEnv = "SEGLOG_KILL_QUEUE"

const (
	queueKeys    = 5
	queueWorkers = 3
)

var queueConsumers = []string{"a", "b"}

// killedQueue has small segments, so that what is consumed goes while it is used,
// and delivers again only what was given back or was out when its process died.
func killedQueue() queue.Options {
	return queue.Options{Order: queue.ByKey, SegmentBytes: 16 << 10, Visibility: time.Hour}
}

// queueChild pushes, takes, acknowledges and gives back until it is killed, and
// says so, a line each, written whole:
//
//	push <offset> <key> <pid> <n>   pushed: its n-th of the key
//	got <consumer> <offset> <key> <pid> <n>
//	ack <consumer> <offset>         is about to acknowledge
//	acked <consumer> <offset>
func queueChild(dir string) {
	round := os.Getpid()
	q, err := queue.Open(ctx, dir, killedQueue())
	if err != nil {
		fmt.Printf("! open: %v\n", err)
		os.Exit(1)
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format+"\n", args...) }
	must := func(what string, err error) {
		if err != nil {
			say("! %s: %v", what, err)
			os.Exit(1)
		}
	}
	say("open")
	for key := range queueKeys {
		go func() {
			r := rand.New(rand.NewPCG(uint64(round), uint64(key)))
			for n := 0; ; n++ {
				value := fmt.Sprintf("%d %d %s", round, n, strings.Repeat("p", r.IntN(500)))
				offset, err := q.Push(ctx, queue.Message{Key: strconv.AppendInt(nil, int64(key), 10), Value: []byte(value)})
				must("push", err)
				say("push %d %d %d %d", offset, key, round, n)
				if n%16 == 0 {
					time.Sleep(time.Millisecond) // the workers keep up
				}
			}
		}()
	}
	for _, name := range queueConsumers {
		for worker := range queueWorkers {
			go func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(worker)))
				for {
					m, err := q.Next(ctx, name)
					must("next", err)
					say("got %s %d %s", name, m.Offset, said(m))
					if r.IntN(8) == 0 {
						must("nack", m.Nack(time.Duration(r.IntN(3))*time.Millisecond))
						continue
					}
					say("ack %s %d", name, m.Offset)
					must("ack", m.Ack())
					say("acked %s %d", name, m.Offset)
				}
			}()
		}
	}
	select {}
}

// said is how a message is written: key, pid, n.
func said(m queue.Message) string {
	words := strings.Fields(string(m.Value))
	return fmt.Sprintf("%s %s %s", m.Key, words[0], words[1])
}

// TestKillQueue kills a process that works on a queue, again and again: opening
// never fails, each message whose push was acknowledged is delivered to each
// consumer until it acknowledges and never after, and those of a key in the order
// of their pushes.
func TestKillQueue(t *testing.T) {
	pushed := 0
	for round := 0; round < max(1, *kills/2); {
		h := &queueHistory{t: t, dir: t.TempDir(), pushed: map[int64]string{}, consumers: map[string]*queueConsumer{}}
		for _, name := range queueConsumers {
			h.consumers[name] = &queueConsumer{acked: map[int64]bool{}, trying: map[int64]bool{}, last: map[string]int64{}}
		}
		for range 6 {
			h.kill()
			round++
		}
		h.drain()
		pushed += len(h.pushed)
	}
	require.Positive(t, pushed)
	t.Logf("%d pushed", pushed)
}

// queueHistory is what was said of a queue that is killed over and over.
type queueHistory struct {
	t         *testing.T
	dir       string
	pushed    map[int64]string // what was acknowledged, or delivered
	consumers map[string]*queueConsumer
}

type queueConsumer struct {
	acked  map[int64]bool
	trying map[int64]bool   // of whose acknowledgement the outcome is not known
	last   map[string]int64 // the last offset of a key that is done
}

func (h *queueHistory) kill() {
	killChild(h.t, queueEnv+"="+h.dir, 100*time.Millisecond, func(line string) { h.heard(strings.Fields(line)) })
}

// heard takes a line. A delivery may be said before the push that it is of.
func (h *queueHistory) heard(words []string) {
	t := h.t
	number := func(i int) int64 {
		n, err := strconv.ParseInt(words[i], 10, 64)
		require.NoError(t, err, words)
		return n
	}
	switch words[0] {
	case "open":
	case "push":
		h.was(number(1), strings.Join(words[2:], " "))
	case "got":
		h.got(words[1], number(2), words[3], strings.Join(words[3:], " "))
	case "ack":
		h.consumers[words[1]].trying[number(2)] = true
	case "acked":
		c := h.consumers[words[1]]
		require.True(t, c.trying[number(2)], words)
		delete(c.trying, number(2))
		c.acked[number(2)] = true
	default:
		t.Fatal(words)
	}
}

func (h *queueHistory) was(offset int64, message string) {
	if before, ok := h.pushed[offset]; ok {
		require.Equal(h.t, before, message, "offset %d", offset)
	}
	h.pushed[offset] = message
}

func (h *queueHistory) got(consumer string, offset int64, key, message string) {
	c := h.consumers[consumer]
	h.was(offset, message)
	require.False(h.t, c.acked[offset], "%s got %d, which it had acknowledged", consumer, offset)
	require.GreaterOrEqual(h.t, offset, c.last[key], "%s got %d of key %s after a later one", consumer, offset, key)
	c.last[key] = offset
}

// drain has all that is left delivered.
func (h *queueHistory) drain() {
	t := h.t
	q, err := queue.Open(ctx, h.dir, killedQueue())
	require.NoError(t, err)
	for _, name := range queueConsumers {
		for {
			m, ok, err := q.TryNext(name)
			require.NoError(t, err)
			if !ok {
				break
			}
			h.got(name, m.Offset, string(m.Key), said(m))
			require.NoError(t, m.Ack())
			h.consumers[name].acked[m.Offset] = true
		}
	}
	require.NoError(t, q.Close())
	for _, name := range queueConsumers {
		c := h.consumers[name]
		for offset, message := range h.pushed {
			require.True(t, c.acked[offset] || c.trying[offset], "%s never got %d: %s", name, offset, message)
		}
	}
	// Each key's messages are all there, in order.
	offsets := slices.Sorted(maps.Keys(h.pushed))
	for key := range queueKeys {
		next := map[string]int{}
		for _, offset := range offsets {
			words := strings.Fields(h.pushed[offset])
			if words[0] != strconv.Itoa(key) {
				continue
			}
			n, err := strconv.Atoi(words[2])
			require.NoError(t, err)
			require.Equal(t, next[words[1]], n, "key %d, process %s", key, words[1])
			next[words[1]]++
		}
	}
}
