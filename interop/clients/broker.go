package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/seglog/seglog/internal/serve"
)

// newBroker starts a "seglog serve" with its data and its log in dir.
func newBroker(ctx context.Context, program, dir string) (*serve.Node, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	n := &serve.Node{Program: program, Data: filepath.Join(dir, "data"), Log: filepath.Join(dir, "log"),
		Settings: []string{"group.initial.rebalance.delay.ms=0", "num.partitions=3", "offsets.topic.num.partitions=4"}}
	return n, n.Start(ctx)
}
