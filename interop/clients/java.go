package main

import (
	"context"
	"os/exec"
	"strings"
)

// java is Kafka's own client.
func java() *program {
	return &program{install: func(ctx context.Context) ([]string, error) {
		k, err := apacheKafka()
		if err != nil {
			return nil, err
		}
		dir, err := cache("java")
		if err != nil {
			return nil, err
		}
		source, err := drivers("java", "Driver.java")
		if err != nil {
			return nil, err
		}
		k, err = k.Compile(ctx, dir, source)
		return k.Command(ctx, "Driver").Args, err
	}}
}

// kafkaTool is one of Kafka's tools, by its class.
func kafkaTool(class string, args ...string) *exec.Cmd {
	k, err := apacheKafka()
	cmd := k.Command(context.Background(), class, args...)
	if err != nil {
		cmd.Err = err
	}
	return cmd
}

// told runs a tool for what it says.
func told(ctx context.Context, class string, args ...string) (string, error) {
	var out strings.Builder
	err := tell(ctx, kafkaTool(class, args...), nil, terse, func(line string) error { out.WriteString(line + "\n"); return nil })
	if err == nil {
		err = ctx.Err()
	}
	return out.String(), err
}

// tools is what prepares Kafka's tools.
type tools struct{}

func (tools) prepare(context.Context) error {
	_, err := apacheKafka()
	return err
}
