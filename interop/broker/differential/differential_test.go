package differential

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/apache"
)

var (
	seed          = flag.Uint64("seed", 1, "the first conversation's seed; 0 for one that is new each time")
	conversations = flag.Int("conversations", 50, "how many conversations; 0 for as many as there are in -within")
	within        = flag.Duration("within", 20*time.Second, "how long, with -conversations 0")
	workers       = flag.Int("workers", 3, "how many conversations at the same time")
	most          = flag.Int("most", 1, "after how many differences to end")
)

// TestConversations has conversations with both brokers. All that differs is kept
// on purpose.
func TestConversations(t *testing.T) {
	b := start(t)
	versions, err := b.versions()
	require.NoError(t, err)
	next := *seed
	if next == 0 {
		next = rand.Uint64N(1_000_000_000)
	}
	t.Logf("-seed %d", next)
	var mu sync.Mutex
	var differ, spoken, compared atomic.Int64
	end := time.Now().Add(*within)
	draw := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		more := spoken.Load() < int64(*conversations) || *conversations == 0 && time.Now().Before(end)
		if !more || differ.Load() >= int64(*most) {
			return 0, false
		}
		spoken.Add(1)
		next++
		return next - 1, true
	}
	kinds := make(map[string]bool)
	var wg sync.WaitGroup
	for range *workers {
		wg.Go(func() {
			for {
				seed, ok := draw()
				if !ok {
					return
				}
				c := generate(seed, versions)
				d, n, err := b.talk(c, prefix())
				compared.Add(int64(n))
				if err != nil {
					t.Errorf("-seed %d: %v", seed, err)
					return
				}
				if d == nil {
					continue
				}
				mu.Lock()
				known := kinds[d.kind]
				mu.Unlock()
				if known {
					continue
				}
				text, kind := b.confirm(c, *d)
				if text == "" {
					t.Logf("-seed %d: seen once only: %s", seed, d.text)
					continue
				}
				mu.Lock()
				kinds[kind], kinds[d.kind] = true, true
				mu.Unlock()
				differ.Add(1)
				t.Errorf("-seed %d, %s\n%s", seed, kind, text)
			}
		})
	}
	wg.Wait()
	t.Logf("%d conversations, %d answers compared", spoken.Load(), compared.Load())
}

var prefixes atomic.Int64

// prefix is of the names of one conversation.
func prefix() string { return fmt.Sprintf("x%dx%d-", started.UnixMilli(), prefixes.Add(1)) }

// confirm has a conversation again that differed, more patiently, and shortens
// it. What comes back is what still differs, or nothing.
func (b *bench) confirm(c conversation, d difference) (text, kind string) {
	patient := *b
	patient.quiet *= 5
	var last *difference
	again := func(steps []step) bool {
		found, _, err := patient.talk(conversation{c.seed, c.clients, steps}, prefix())
		if err != nil || found == nil || found.kind != d.kind {
			return false
		}
		last = found
		return true
	}
	steps := c.steps[:d.step+1]
	if !again(steps) {
		return "", ""
	}
	deadline := time.Now().Add(time.Minute)
	steps = shorten(steps, func(less []step) bool { return time.Now().Before(deadline) && again(less) })
	told, err := patient.tellAll(conversation{c.seed, c.clients, steps}, prefix())
	if err != nil {
		return err.Error(), d.kind
	}
	return told + last.text, d.kind
}

// tellAll is what the steps of a conversation are, as Kafka is asked them.
func (b *bench) tellAll(c conversation, prefix string) (string, error) {
	var text strings.Builder
	_, _, err := b.talkAloud(c, prefix, func(line string) { text.WriteString(line + "\n") })
	return text.String(), err
}

// start starts both brokers.
func start(t *testing.T) *bench {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	kafka, err := apache.Install(t.Context())
	if errors.Is(err, apache.ErrMissing) {
		t.Skipf("NOTHING WAS HELD AGAINST APACHE KAFKA: %v", err)
	}
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	b := &bench{quiet: 25 * time.Millisecond}
	for i, name := range []string{"Kafka", "seglog"} {
		var n node
		if i == 0 {
			n, err = startKafka(ctx, kafka, t.TempDir())
		} else {
			n, err = startSeglog(ctx, root, t.TempDir())
		}
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, n.Stop()) })
		b.brokers[i] = &broker{name: name, addr: n.Addr()}
		b.brokers[i].admin, err = dial(n.Addr(), "admin")
		require.NoError(t, err)
		b.fences[i], err = newFence(b.brokers[i])
		require.NoError(t, err)
		require.NoError(t, b.brokers[i].warm())
	}
	return b
}
