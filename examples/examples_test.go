package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

var bin string

// TestMain builds all examples once.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "examples-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		bin = dir + string(filepath.Separator)
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "./...").CombinedOutput(); err != nil {
			os.Stderr.Write(out)
			return 1
		}
		return m.Run()
	}())
}

// uses looks at the files that the programs are built of, so that go test does
// not answer from its cache when only they have changed.
func uses(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"*/*.go", "../cmd/seglog/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			if _, err := os.Stat(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// run runs an example, which must leave nothing behind where it puts temporary
// files, and returns what it printed.
func run(t *testing.T, within time.Duration, name string, args ...string) string {
	t.Helper()
	uses(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	temp := t.TempDir()
	cmd := exec.CommandContext(ctx, bin+name, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "TMP="+temp)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	left, err := filepath.Glob(filepath.Join(temp, name+"-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%s left %q (%v)", name, left, err)
	}
	return string(out)
}

// TestExamples runs each program and looks for what it is there to show.
func TestExamples(t *testing.T) {
	for name, shows := range map[string][]string{
		"webhook":    {"9 events delivered after true retries, event 4 given up"},
		"shipper":    {"20000 lines wait on disk", "20000 lines arrived, 0 wait, 0 dropped"},
		"jobs":       {"urgent 0, urgent 1, urgent 2, normal 0, normal 1, normal 2, idle 0, idle 1, idle 2"},
		"producer":   {"the last one is at offset 3 of partition 0", "0:3 customer-1: the last one", "2:2 customer-2: order 8"},
		"consumer":   {"member 0 has got 2 partitions", "member 1 has got 2 partitions", "1000 orders billed"},
		"embed":      {`offset 2: Oslo = "", null: true`, "offset 1 alone: Lima = fog, unit = none"},
		"durable":    {" 1 writers: 200 durable appends", "64 writers: 12800 durable appends", "durable up to 12800 of 12800"},
		"tail":       {"event 1, read", "event 3, read"},
		"bytime":     {"720 12:00:00 11 degrees", "two days on: 1440 which is the end: true"},
		"retention":  {"by beyond 1048576 bytes or older than 168h0m0s", "8192 records appended"},
		"compaction": {"without a key: record", "50000 records appended, fewer than 5000 left: true", "100 settings, the newest: value 49999"},
		"borrow":     {"offset 990: a batch of", "offset 999: a batch of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var args []string
			if name == "tail" {
				args = []string{"1s"}
			}
			out := run(t, 30*time.Second, name, args...)
			for _, part := range shows {
				if !strings.Contains(out, part) {
					t.Errorf("it does not print %q but\n%s", part, out)
				}
			}
		})
	}
}

// TestReadKafka reads a directory of this engine's, and one of Kafka's if they
// are there.
func TestReadKafka(t *testing.T) {
	dir := t.TempDir()
	l, err := log.Open(t.Context(), dir, log.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(record.Record{Key: []byte("k"), Headers: []record.Header{{Key: "h"}}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if out := run(t, 10*time.Second, "readkafka", dir); !strings.Contains(out, `key="k" value=null h=null`) {
		t.Errorf("it prints\n%s", out)
	}

	kafka := filepath.Join(testkit.KafkaDirs(t), "gzip-headers", "lsx1-0")
	out := run(t, 10*time.Second, "readkafka", kafka)
	if !strings.Contains(out, "segment ") || !strings.Contains(out, " value=") {
		t.Errorf("of %s it prints\n%s", kafka, out)
	}
}

// TestTour runs the README's first command.
func TestTour(t *testing.T) {
	if testing.Short() {
		t.Skip("THE TOUR WAS NOT TAKEN: the run is to be short")
	}
	if runtime.GOOS == "windows" {
		t.Skip("THE TOUR WAS NOT TAKEN: its commands are for a Unix shell")
	}
	out := run(t, time.Minute, "tour")
	for _, part := range []string{"$ kill -9", "byte for byte the first ones of the input", "the same", "That was all"} {
		if !strings.Contains(out, part) {
			t.Errorf("it does not show %q", part)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}
