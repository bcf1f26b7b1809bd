package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// program is a client in its own language, as doc.go describes it.
type program struct {
	install func(ctx context.Context) (command []string, err error)
	command []string
}

func (p *program) prepare(ctx context.Context) (err error) {
	p.command, err = p.install(ctx)
	return err
}

func (p *program) cmd(args ...string) *exec.Cmd {
	all := append(append([]string{}, p.command...), args...)
	return exec.Command(all[0], all[1:]...)
}

func (p *program) produce(ctx context.Context, addr string, how produce, acked func(int)) error {
	cmd := p.cmd(addr, "produce", how.topic, how.acks, how.codec, strconv.Itoa(how.from), strconv.Itoa(how.to))
	return errors.Join(tell(ctx, cmd, nil, terse, func(line string) error {
		n, err := strconv.Atoi(line)
		if err == nil {
			acked(n)
		}
		return err
	}), ctx.Err())
}

func (p *program) consume(ctx context.Context, addr string, c consume, got func(record)) error {
	cmd := p.cmd(addr, "consume", c.topic, strconv.Itoa(c.partitions), strconv.FormatInt(c.since, 10))
	return tell(ctx, cmd, nil, terse, recordLine(got))
}

func (p *program) member(ctx context.Context, addr, topic, group string, got func(record)) error {
	in, hold := io.Pipe()
	defer in.Close()
	return tell(ctx, p.cmd(addr, "member", topic, group), in, func(*exec.Cmd) error { return hold.Close() }, recordLine(got))
}

// asked runs a program that ends by itself, for its lines.
func (p *program) asked(ctx context.Context, args ...string) (lines []string, err error) {
	err = tell(ctx, p.cmd(args...), nil, terse, func(line string) error { lines = append(lines, line); return nil })
	return lines, errors.Join(err, ctx.Err())
}

func (p *program) create(ctx context.Context, addr, topic string, partitions int, key, value string) error {
	_, err := p.asked(ctx, addr, "create", topic, strconv.Itoa(partitions), key+"="+value)
	return err
}

func (p *program) describe(ctx context.Context, addr, topic string) (int, error) {
	lines, err := p.asked(ctx, addr, "describe", topic)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.Join(lines, "\n"))
}

func (p *program) configs(ctx context.Context, addr, topic string) (map[string]string, error) {
	lines, err := p.asked(ctx, addr, "configs", topic)
	got := make(map[string]string)
	for _, line := range lines {
		k, v, _ := strings.Cut(line, "=")
		got[k] = v
	}
	return got, err
}

func (p *program) alter(ctx context.Context, addr, topic, key, value string) error {
	_, err := p.asked(ctx, addr, "alter", topic, key+"="+value)
	return err
}

func (p *program) remove(ctx context.Context, addr, topic string) error {
	_, err := p.asked(ctx, addr, "delete", topic)
	return err
}
