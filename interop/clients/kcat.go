package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// kcat is the tool on the librdkafka of Debian.
type kcat struct{ noAdmin }

func (kcat) prepare(context.Context) error {
	if _, err := exec.LookPath("kcat"); err != nil {
		return errors.New("no kcat: apt-get install kcat")
	}
	return nil
}

// produce runs it for each part, as it ends when all was acknowledged and does
// not say so earlier.
func (kcat) produce(ctx context.Context, addr string, p produce, acked func(int)) error {
	acks := []string{"-X", "acks=" + p.acks}
	if p.acks == "idempotent" {
		acks = []string{"-X", "enable.idempotence=true"}
	}
	return p.chunks(func(from, to int) error {
		var in strings.Builder
		for n := from; n < to; n++ {
			fmt.Fprintf(&in, "%s:%s\n", key(n), value(n))
		}
		args := append([]string{"-P", "-b", addr, "-t", p.topic, "-K", ":", "-z", p.codec, "-E", "-X", "message.timeout.ms=0",
			"-X", "retry.backoff.ms=20", "-X", "reconnect.backoff.max.ms=100", "-X", "linger.ms=5"}, acks...)
		err := tell(ctx, exec.Command("kcat", args...), strings.NewReader(in.String()), terse, func(string) error { return nil })
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		for n := from; n < to; n++ {
			acked(n)
		}
		return nil
	})
}

// kcatFormat is a record's line.
const kcatFormat = `%p %o %s\n`

func (kcat) consume(ctx context.Context, addr string, c consume, got func(record)) error {
	offset := "beginning"
	if c.since != first {
		offset = "s@" + strconv.FormatInt(c.since, 10)
	}
	cmd := exec.Command("kcat", "-C", "-b", addr, "-t", c.topic, "-o", offset, "-f", kcatFormat, "-u", "-q")
	return tell(ctx, cmd, nil, terse, recordLine(got))
}

func (kcat) member(ctx context.Context, addr, topic, group string, got func(record)) error {
	cmd := exec.Command("kcat", "-b", addr, "-f", kcatFormat, "-u", "-q", "-E", "-X", "auto.offset.reset=earliest",
		"-X", "heartbeat.interval.ms=200", "-X", "reconnect.backoff.max.ms=100", "-G", group, topic)
	return tell(ctx, cmd, nil, terminate, recordLine(got))
}

func (kcat) describe(ctx context.Context, addr, topic string) (int, error) {
	out, err := exec.CommandContext(ctx, "kcat", "-L", "-b", addr, "-t", topic).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	var n int
	_, rest, _ := strings.Cut(string(out), `topic "`+topic+`" with `)
	_, err = fmt.Sscanf(rest, "%d partitions", &n)
	return n, err
}
