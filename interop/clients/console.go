package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/seglog/seglog/internal/apache"
)

// console is Kafka's console producer and consumer, and its tools for topics,
// configurations and groups.
type console struct{ tools }

func producerProperties(p produce) []string {
	acks, idempotent := p.acks, "false"
	if p.acks == "idempotent" {
		acks, idempotent = "all", "true"
	}
	return []string{"acks=" + acks, "enable.idempotence=" + idempotent, "compression.type=" + p.codec,
		"delivery.timeout.ms=3600000", "retry.backoff.ms=20", "reconnect.backoff.max.ms=100",
		// Left to itself the console producer sends again after 1.5 s, and has records
		// stored twice by a broker that is slow.
		"request.timeout.ms=30000"}
}

func (console) produce(ctx context.Context, addr string, p produce, acked func(int)) error {
	if p.live {
		return errUnable // it tells nothing before it ends
	}
	var in strings.Builder
	for n := p.from; n < p.to; n++ {
		fmt.Fprintf(&in, "%s:%s\n", key(n), value(n))
	}
	args := []string{"--bootstrap-server", addr, "--topic", p.topic, "--compression-codec", p.codec,
		"--reader-property", "parse.key=true", "--reader-property", "key.separator=:"}
	for _, property := range producerProperties(p) {
		args = append(args, "--command-property", property)
	}
	err := tell(ctx, kafkaTool(apache.ConsoleProducer, args...), strings.NewReader(in.String()), terse, func(string) error { return nil })
	for n := p.from; n < p.to; n++ {
		acked(n)
	}
	return errors.Join(err, ctx.Err())
}

// consoleLine reads what it prints with these formatter properties.
var consoleFormat = []string{"--formatter-property", "print.partition=true", "--formatter-property", "print.offset=true"}

func consoleLine(got func(record)) func(string) error {
	plain := recordLine(got)
	labels := strings.NewReplacer("Partition:", "", "Offset:", "")
	return func(line string) error { return plain(labels.Replace(line)) }
}

func (console) consume(ctx context.Context, addr string, c consume, got func(record)) error {
	if c.since != first {
		return errUnable
	}
	args := append([]string{"--bootstrap-server", addr, "--topic", c.topic, "--from-beginning"}, consoleFormat...)
	return tell(ctx, kafkaTool(apache.ConsoleConsumer, args...), nil, terse, consoleLine(got))
}

func (console) member(ctx context.Context, addr, topic, group string, got func(record)) error {
	args := append([]string{"--bootstrap-server", addr, "--topic", topic, "--from-beginning", "--group", group,
		"--command-property", "heartbeat.interval.ms=200", "--command-property", "reconnect.backoff.max.ms=100"}, consoleFormat...)
	return tell(ctx, kafkaTool(apache.ConsoleConsumer, args...), nil, terminate, consoleLine(got))
}

func (console) create(ctx context.Context, addr, topic string, partitions int, key, value string) error {
	_, err := told(ctx, apache.Topics, "--bootstrap-server", addr, "--create", "--topic", topic, "--partitions", strconv.Itoa(partitions),
		"--replication-factor", "1", "--config", key+"="+value)
	return err
}

var partitionCount = regexp.MustCompile(`PartitionCount: (\d+)`)

func (console) describe(ctx context.Context, addr, topic string) (int, error) {
	out, err := told(ctx, apache.Topics, "--bootstrap-server", addr, "--describe", "--topic", topic)
	m := partitionCount.FindStringSubmatch(out)
	if err != nil || m == nil {
		return 0, errors.Join(err, fmt.Errorf("it says %q", out))
	}
	return strconv.Atoi(m[1])
}

var configured = regexp.MustCompile(`(?m)^\s*([a-z.]+)=(\S*) sensitive=`)

func (console) configs(ctx context.Context, addr, topic string) (map[string]string, error) {
	out, err := told(ctx, apache.Configs, "--bootstrap-server", addr, "--describe", "--all", "--entity-type", "topics", "--entity-name", topic)
	got := make(map[string]string)
	for _, m := range configured.FindAllStringSubmatch(out, -1) {
		got[m[1]] = m[2]
	}
	return got, err
}

func (console) alter(ctx context.Context, addr, topic, key, value string) error {
	_, err := told(ctx, apache.Configs, "--bootstrap-server", addr, "--alter", "--entity-type", "topics", "--entity-name", topic, "--add-config", key+"="+value)
	return err
}

func (console) remove(ctx context.Context, addr, topic string) error {
	_, err := told(ctx, apache.Topics, "--bootstrap-server", addr, "--delete", "--topic", topic)
	return err
}
