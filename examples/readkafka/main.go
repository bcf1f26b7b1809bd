// Command readkafka prints what is in a partition's directory of Apache Kafka,
// "<log.dirs>/<topic>-<partition>". It opens it read-only: no lock is taken and
// nothing is written, so the broker may be running.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seglog/seglog/log"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: readkafka DIR")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	l, err := log.Open(ctx, dir, log.Options{Mode: log.ReadOnly})
	if err != nil {
		return err
	}
	defer l.Close()
	out := bufio.NewWriter(os.Stdout)
	for _, s := range l.Segments() {
		fmt.Fprintf(out, "segment %d: offsets [%d, %d), %d bytes\n", s.Base, s.Base, s.Next, s.Bytes)
	}
	var damage *log.DamageError
	for rec, err := range l.From(l.First()) {
		if errors.As(err, &damage) {
			fmt.Fprintln(os.Stderr, err) // and the walk goes on behind it
			continue
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		fmt.Fprintf(out, "%d %s key=%s value=%s", rec.Offset, rec.Time.Format(time.RFC3339Nano), text(rec.Key), text(rec.Value))
		for _, h := range rec.Headers {
			fmt.Fprintf(out, " %s=%s", h.Key, text(h.Value))
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

func text(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%q", b)
}
