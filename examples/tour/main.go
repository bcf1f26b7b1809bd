// Command tour shows the main job on real input: a million lines of Go's
// standard library are appended, the appender is killed in the middle, and
// everything it had acknowledged is there. It needs no flags:
//
//	go run ./examples/tour
//
// Every command is printed before its output, and everything it makes is in a
// temporary directory that is removed at the end.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const (
	lines   = 1_000_000
	command = "github.com/seglog/seglog/cmd/seglog"
	// The segments are small, so that there are several to look at.
	appending = "./seglog append d --segment-bytes 8MiB"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := tour(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "tour:", err)
		os.Exit(1)
	}
}

func tour(ctx context.Context) (err error) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "seglog-tour-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := traveller{ctx: ctx, dir: dir}

	t.say("Build the command, and gather real input: lines of Go's standard library.")
	t.build()
	input := t.gather(filepath.Join(dir, "lines.txt"))

	t.say("Append them, and kill -9 the appender halfway. --ack prints the last offset of each batch\nonce it is in the log.")
	acked := t.appendAndKill(input)

	t.say("Nobody closed this log. What is in it?")
	t.run("./seglog info d")
	t.run("./seglog read d >survived.txt")
	survived := t.compare("survived.txt", input, acked)

	t.say("Append the rest. Opening the log recovers it.")
	time.Sleep(20 * time.Millisecond) // so that a time lies between the two halves
	between := time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00")
	time.Sleep(20 * time.Millisecond)
	t.run(fmt.Sprintf("tail -n +%d lines.txt | %s", survived+1, appending))

	t.say("Read by offset; by time: the first line appended since the kill; from the end.")
	t.run(fmt.Sprintf("./seglog read d --from %d --count 2 --format json", input.count/3))
	t.run(fmt.Sprintf("./seglog read d --at %s --count 1 --format json", between))
	t.expect(fmt.Sprintf("\"offset\":%d,", survived))
	t.run("./seglog read d --last 2")

	t.say("How was that offset found?")
	t.run(fmt.Sprintf("./seglog explain d %d", input.count/3))

	t.say("Check every byte: checksums, indexes, seals. Then hold the log against the input.")
	t.run("./seglog verify d")
	t.run("./seglog read d | cmp - lines.txt && echo the same")
	t.expect("the same")
	if t.err == nil {
		t.say(fmt.Sprintf("That was all, in %.1f s. Nothing is left of it.", time.Since(began).Seconds()))
	}
	return t.err
}
