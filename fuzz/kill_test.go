package fuzz

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

var kills = flag.Int("kills", 25, "how often TestPitfallT3Kill kills")

// childEnv names the directory that a process started by TestPitfallT3Kill appends to.
const childEnv = "SEGLOG_KILL_CHILD"

const appenders = 4

func killOptions() log.Options { return log.Options{SegmentBytes: 16 << 10, MappedSegments: 4} }

// child opens the log and appends until it is killed. It says on standard
// output what it did, a line each, written whole:
//
//	a <appender> <n> <first> <count>   appended: its n-th batch, at first
//	t <offset>                         about to drop what is below
//	d <offset>                         dropped
//
// The records of an appender's n-th batch have the values "<appender> <n> <i>
// <count>" and padding.
func child(dir string) {
	l, err := log.Open(ctx, dir, killOptions())
	if err != nil {
		fmt.Printf("! open: %v\n", err)
		os.Exit(1)
	}
	fmt.Println("open")
	say := func(err error, format string, args ...any) {
		if err != nil {
			fmt.Printf("! %s: %v\n", fmt.Sprintf(format, args...), err)
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(fmt.Sprintf(format+"\n", args...))
	}
	for a := range appenders {
		go func() {
			r := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(a)))
			for n := 0; ; n++ {
				count := 1 + r.IntN(4)
				records := make([]record.Record, count)
				for i := range records {
					records[i].Value = fmt.Appendf(nil, "%d %d %d %d %s", a, n, i, count, strings.Repeat("p", r.IntN(700)))
				}
				var first int64
				var err error
				if r.IntN(8) == 0 {
					first, err = l.AppendSync(ctx, records...)
				} else {
					first, err = l.Append(records...)
				}
				say(err, "a %d %d %d %d", a, n, first, count)
				if a == 0 && r.IntN(20) == 0 {
					offset := max(l.First(), l.End()-100-int64(r.IntN(300)))
					say(nil, "t %d", offset)
					say(l.DropBefore(offset), "d %d", offset)
				}
			}
		}()
	}
	select {}
}

// TestPitfallT3Kill kills a process that appends, again and again (pitfall T3): opening
// never fails, and what is there is every record that was acknowledged, where
// it was said to be, and no other but the one each appender was about to have
// acknowledged.
func TestPitfallT3Kill(t *testing.T) {
	// Relies on A8, A12 (docs/ASSUMPTIONS.md).
	for round := 0; round < *kills; {
		h := &history{t: t, dir: t.TempDir()}
		for range min(8, *kills-round) {
			h.kill()
			round++
		}
	}
}

// history is what a log that is killed over and over must hold.
type history struct {
	t     *testing.T
	dir   string
	have  []string // values of the records from first on, padding aside
	first int64
	acked int
}

func (h *history) end() int64 { return h.first + int64(len(h.have)) }

// run is what one child said.
type run struct {
	acked         map[int64]string // offset to value
	last          [appenders]int   // the last batch acknowledged
	trying, first int64            // DropBefore
}

func (h *history) kill() {
	r := run{acked: map[int64]string{}, first: h.first, trying: h.first}
	for a := range r.last {
		r.last[a] = -1
	}
	killChild(h.t, childEnv+"="+h.dir, 40*time.Millisecond, func(line string) { h.heard(&r, line) })
	h.verify(&r)
}

// killChild starts this program with an environment that has it work on what the
// last one left, and kills it within that time after it has opened that, or began
// to. heard gets the lines it said.
func killChild(t *testing.T, env string, within time.Duration, heard func(line string)) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	var line string
	if rand.IntN(4) > 0 { // the others are killed while they open, too
		line, err = lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "open\n", line, "the child must open what the last one left")
	}
	killed := time.AfterFunc(rand.N(within), func() { _ = cmd.Process.Kill() })
	defer killed.Stop()
	for err == nil {
		if line, err = lines.ReadString('\n'); err == nil {
			heard(line)
		} // what follows the last newline was not said
	}
	require.Equal(t, io.EOF, err)
	_ = cmd.Wait()
}

func (h *history) heard(r *run, line string) {
	switch line[0] {
	case 'a':
		var a, n, count int
		var first int64
		_, err := fmt.Sscanf(line, "a %d %d %d %d", &a, &n, &first, &count)
		require.NoError(h.t, err, line)
		require.Equal(h.t, r.last[a]+1, n)
		r.last[a] = n
		for i := range count {
			r.acked[first+int64(i)] = fmt.Sprintf("%d %d %d %d", a, n, i, count)
		}
		h.acked += count
	case 't':
		_, err := fmt.Sscanf(line, "t %d", &r.trying)
		require.NoError(h.t, err, line)
	case 'o':
		require.Equal(h.t, "open\n", line)
	case 'd':
		r.first = r.trying
	default:
		h.t.Fatal(line)
	}
}

// verify opens what the kill left and compares.
func (h *history) verify(r *run) {
	t := h.t
	o := killOptions()
	o.Mode = []log.Mode{log.ReadOnly, log.ReadWrite, log.ReadWrite}[rand.IntN(3)]
	l, err := log.Open(ctx, h.dir, o)
	require.NoError(t, err)
	require.Contains(t, []int64{r.first, r.trying}, l.First())

	var got []string
	for rec, err := range l.From(l.First()) {
		require.NoError(t, err)
		require.Equal(t, l.First()+int64(len(got)), rec.Offset)
		got = append(got, string(rec.Value[:strings.LastIndexByte(string(rec.Value), ' ')]))
	}
	require.Equal(t, l.End(), l.First()+int64(len(got)))
	require.GreaterOrEqual(t, l.End(), h.end(), "what was there before is there")

	unacked := 0
	for i, value := range got {
		offset := l.First() + int64(i)
		if offset < h.end() {
			require.Equal(t, h.have[offset-h.first], value, "offset %d, there before", offset)
		} else if want, ok := r.acked[offset]; ok {
			require.Equal(t, want, value, "offset %d, acknowledged", offset)
		} else {
			var a, n, at, count int
			_, err := fmt.Sscanf(value, "%d %d %d %d", &a, &n, &at, &count)
			require.NoError(t, err)
			require.Equal(t, r.last[a]+1, n, "offset %d has a record that appender %d did not come to", offset, a)
			// Its batch is whole.
			require.Equal(t, fmt.Sprintf("%d %d %d %d", a, n, 0, count), got[i-at])
			require.Equal(t, fmt.Sprintf("%d %d %d %d", a, n, count-1, count), got[i-at+count-1])
			unacked++
		}
	}
	for offset, value := range r.acked {
		require.True(t, offset < l.First() || offset < l.End(), "offset %d (%s) was acknowledged, the log ends at %d", offset, value, l.End())
	}
	require.LessOrEqual(t, unacked, appenders*4)
	h.have, h.first = got, l.First()
	require.NoError(t, l.Close())
	if testing.Verbose() {
		t.Logf("%6d acknowledged, log is [%d, %d), %d beyond, mode %d: %v", h.acked, h.first, h.end(), unacked, o.Mode, l.Recovery().Actions)
	}
}
