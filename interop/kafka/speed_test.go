package kafka

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/apache"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

var verifySpeed = flag.Int("verify-speed", 0, "compare the speed of seglog verify and DumpLogSegments, so many times each")

// dumpJVM is what DumpLogSegments is timed with: the quickest of collectors on
// a machine of few processors, and both compilers.
var dumpJVM = []string{"-Xmx512m", "-XX:+UseSerialGC"}

// TestVerifySpeed times seglog verify, which holds every checksum, record,
// index entry and seal against each other, and DumpLogSegments, which checks
// checksums and, with --deep-iteration, reads records, over 1 GiB in the page
// cache. The processes take turns, with their output thrown away, and each time
// includes the start of the process.
func TestVerifySpeed(t *testing.T) {
	if *verifySpeed == 0 {
		t.Skip("only with -verify-speed N")
	}
	needsKafka(t)
	kafka := run.judge.Kafka
	kafka.JVM = dumpJVM
	seglog := filepath.Join(run.dir, "seglog")
	build := exec.Command("go", "build", "-o", seglog, "./cmd/seglog")
	build.Dir = filepath.Join("..", "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	small := filepath.Join(run.dir, "speed", "start-0")
	fillPartition(t, small, 100, 1)
	for _, size := range []int{100, 1024} {
		t.Run(fmt.Sprintf("records of %d B", size), func(t *testing.T) {
			dir := filepath.Join(run.dir, "speed", fmt.Sprintf("of-%d-0", size))
			fillPartition(t, dir, size, 1<<30)
			defer os.RemoveAll(dir)
			verify := timed{name: "seglog verify", command: func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, seglog, "verify", dir) }}
			dumping := func(name, dir string, flags ...string) timed {
				var files []string
				for _, name := range logs(t, dir) {
					files = append(files, filepath.Join(dir, name))
				}
				args := append([]string{"--files", strings.Join(files, ",")}, flags...)
				return timed{name: name, command: func(ctx context.Context) *exec.Cmd { return kafka.Command(ctx, apache.DumpLog, args...) }}
			}
			shallow, all := dumping("DumpLogSegments", dir), dumping("DumpLogSegments --deep-iteration", dir, "--deep-iteration")
			starting := dumping("DumpLogSegments of one batch", small)

			// They have to see the same. It warms the page cache, too.
			checked := verified(t, verify)
			require.Equal(t, checked, dumpedCounts(t, all))

			for range *verifySpeed {
				for _, x := range []*timed{&verify, &shallow, &all, &starting} {
					x.once(t)
				}
			}
			for _, x := range []timed{verify, shallow, all, starting} {
				wall, cpu := median(x.wall), median(x.cpu)
				t.Logf("%-34s median of %d: %.3f s, %.1f times verify; CPU %.3f s, %.1f times verify", x.name, len(x.wall),
					wall.Seconds(), wall.Seconds()/median(verify.wall).Seconds(), cpu.Seconds(), cpu.Seconds()/median(verify.cpu).Seconds())
			}
			t.Logf("without the start of its JVM: DumpLogSegments %.1f, with --deep-iteration %.1f times verify",
				(median(shallow.wall)-median(starting.wall)).Seconds()/median(verify.wall).Seconds(),
				(median(all.wall)-median(starting.wall)).Seconds()/median(verify.wall).Seconds())
		})
	}
}

// fillPartition writes at least that many bytes in batches of 16 KiB, of
// records of that size which nothing compresses.
func fillPartition(t *testing.T, dir string, size int, total int64) {
	t.Helper()
	l, err := log.Open(t.Context(), dir, log.Options{})
	require.NoError(t, err)
	list := make([]record.Record, (16<<10)/(size+10))
	payload := make([]byte, size*len(list)+sha256.Size)
	now := time.UnixMilli(startTime)
	for i, bytes := 0, int64(0); bytes < total; bytes += int64(len(payload)) {
		for at := 0; at+sha256.Size <= len(payload); at += sha256.Size {
			sum := sha256.Sum256(fmt.Appendf(nil, "%d", i))
			i += copy(payload[at:], sum[:])
		}
		for j := range list {
			now = now.Add(time.Millisecond / 8)
			list[j] = record.Record{Time: now, Value: payload[j*size:][:size]}
		}
		_, err := l.Append(list...)
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
}

// timed is a command that is run again and again.
type timed struct {
	name      string
	command   func(context.Context) *exec.Cmd
	wall, cpu []time.Duration
}

func (x *timed) once(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*toolTime)
	defer cancel()
	cmd := x.command(ctx)
	began := time.Now()
	require.NoError(t, cmd.Run(), x.name)
	x.wall = append(x.wall, time.Since(began))
	x.cpu = append(x.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// seen is what was looked at.
type seen struct{ batches, records int64 }

var verdict = regexp.MustCompile(`^ok: .*, ([0-9,]+) batch(?:es)?, ([0-9,]+) records`)

func verified(t *testing.T, x timed) (s seen) {
	t.Helper()
	out, err := x.command(t.Context()).Output()
	require.NoError(t, err)
	fields := verdict.FindStringSubmatch(string(out))
	require.NotNil(t, fields, "%s", out)
	for i, n := range []*int64{&s.batches, &s.records} {
		_, err := fmt.Sscan(strings.ReplaceAll(fields[i+1], ",", ""), n)
		require.NoError(t, err)
	}
	return s
}

// dumpedCounts counts what DumpLogSegments prints, which has no complaints.
func dumpedCounts(t *testing.T, x timed) (s seen) {
	t.Helper()
	cmd := x.command(t.Context())
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(bufio.NewReaderSize(out, 1<<20))
	for lines.Scan() {
		switch text := lines.Bytes(); {
		case bytes.HasPrefix(text, []byte("| offset: ")):
			s.records++
		case bytes.HasPrefix(text, []byte("baseOffset: ")):
			s.batches++
			require.True(t, bytes.HasSuffix(text, []byte("isvalid: true")), "%s", text)
		}
	}
	require.NoError(t, lines.Err())
	require.NoError(t, cmd.Wait())
	return s
}
