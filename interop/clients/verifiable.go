package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seglog/seglog/internal/apache"
)

// verifiable is Kafka's producer and consumer for its system tests, which tell
// each record. The values of that producer are plain numbers, without keys.
type verifiable struct {
	tools
	noAdmin
}

// event is a line of theirs.
type event struct {
	Name, Value string
	Partition   int32
	Offset      int64
}

func events(do func(event) error) func(string) error {
	return func(line string) error {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil //nolint:nilerr // they print other things in between
		}
		return do(e)
	}
}

func (verifiable) produce(ctx context.Context, addr string, p produce, acked func(int)) error {
	if p.acks == "idempotent" {
		return errUnable // it never tries again, whatever it is configured to
	}
	dir, err := os.MkdirTemp("", "seglog-clients-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	config := filepath.Join(dir, "producer.properties")
	if err := os.WriteFile(config, []byte(strings.Join(producerProperties(p), "\n")), 0o644); err != nil {
		return err
	}
	acks := map[string]string{"0": "0", "1": "1"}[p.acks]
	if acks == "" {
		acks = "-1"
	}
	args := []string{"--bootstrap-server", addr, "--topic", p.topic, "--max-messages", strconv.Itoa(p.to - p.from), "--acks", acks, "--command-config", config}
	if p.live {
		args = append(args, "--throughput", "1000")
	}
	err = tell(ctx, kafkaTool(apache.VerifiableProducer, args...), nil, terse, events(func(e event) error {
		if e.Name != "producer_send_success" {
			return nil
		}
		n, err := strconv.Atoi(e.Value)
		acked(p.from + n)
		return err
	}))
	return errors.Join(err, ctx.Err())
}

func (verifiable) consume(context.Context, string, consume, func(record)) error { return errUnable }

func (verifiable) member(ctx context.Context, addr, topic, group string, got func(record)) error {
	args := []string{"--bootstrap-server", addr, "--topic", topic, "--group-id", group, "--reset-policy", "earliest", "--verbose"}
	return tell(ctx, kafkaTool(apache.VerifiableConsumer, args...), nil, terminate, events(func(e event) error {
		if e.Name == "record_data" {
			got(record{e.Partition, e.Offset, number([]byte(e.Value))})
		}
		return nil
	}))
}
