// Command seglog appends to, reads and looks into logs of package log, which
// are Apache Kafka's partition directories.
//
//	seq 1000000 | seglog append d
//	seglog read d --last 3
//	seglog info d
//
// Each subcommand is in the file of its name; what it shares with others is in
// a file named after the idea. "seglog help" says the rest.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:])) }

// run is main without os.Exit, which would skip what is deferred.
func run(args []string) int {
	// A closed pipe is an error of the write instead of the end of the process:
	// an appender must close its log though nobody reads its output.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := interruptible()
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return report(os.Stderr, cmd.UseLine(), err)
}
