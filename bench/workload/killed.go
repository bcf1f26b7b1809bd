package workload

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

const (
	childVar = "SEGLOG_BENCH_WRITER"
	childDir = "SEGLOG_BENCH_WRITER_DIR"
)

// Main runs the writer that Kill or Build asks this process to be, and otherwise
// the benchmarks. A writer for Kill appends records of 1 KiB and is killed while it
// does; it calls full once OpenBytes are there and returns only if it cannot go on.
// One for Build returns when it is done.
func Main(m *testing.M, writers map[string]func(dir string, full func()) error) int {
	name := os.Getenv(childVar)
	if name == "" {
		return m.Run()
	}
	flag.Parse() // for testing.Short
	write, ok := writers[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "there is no writer %q\n", name)
		return 1
	}
	if err := write(os.Getenv(childDir), func() { fmt.Println("full") }); err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		return 1
	}
	return 0
}

// Build lets another process write to dir, which leaves no trace in the memory of
// this one, and waits for its end.
func Build(b *testing.B, writer, dir string) {
	b.Helper()
	if out, err := child(writer, dir).CombinedOutput(); err != nil {
		b.Fatalf("the writer %s: %v\n%s", writer, err, out)
	}
}

func child(writer, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], shortFlag()...)
	cmd.Env = append(os.Environ(), childVar+"="+writer, childDir+"="+dir)
	return cmd
}

// Kill lets another process write to dir and kills it, at any moment once
// OpenBytes are there. It returns what the writer had told by then.
func Kill(b *testing.B, writer, dir string, seed uint64) {
	b.Helper()
	cmd := child(writer, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		time.Sleep(time.Duration(rand.New(rand.NewPCG(seed, 0)).Int64N(int64(20 * time.Millisecond))))
	}
	_ = cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	if err != nil || line != "full\n" {
		b.Fatalf("the writer %s said %q, %v", writer, line, err)
	}
}

func shortFlag() []string {
	if testing.Short() {
		return []string{"-test.short"}
	}
	return nil
}

// Opened times opening what a killed process left. build makes that anew, off
// the clock, for each. open returns what counts the records and closes: at least
// as many have to be there as were when the writer was told to be full, unless the
// engine loses what it has not yet written: then it is reported how many are lost.
func Opened(b *testing.B, loses bool, build func(round int) (dir string), open func(dir string) (held func() (int64, error), err error)) {
	b.Helper()
	least := int64(OpenBytes() / 1024)
	b.ReportAllocs()
	round, lost := 0, int64(0)
	for b.Loop() {
		b.StopTimer()
		dir := build(round)
		b.StartTimer()
		held, err := open(dir)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		got, err := held()
		if err != nil || got == 0 || got < least && !loses {
			b.Fatalf("%d records of at least %d are there, %v", got, least, err)
		}
		lost = max(lost, least-got)
		round++
		b.StartTimer()
	}
	if loses {
		b.ReportMetric(float64(lost), "lost-records")
	}
}
