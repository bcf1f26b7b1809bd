package main

import (
	"context"
	"time"
)

// check is one thing a client is held to.
type check struct {
	name string
	run  func(*bench, context.Context) error
	// limit is the time that a check may take, on a loaded machine.
	limit time.Duration
}

var checks = []check{
	{"codecs", (*bench).codecs, 3 * time.Minute},
	{"acks 0", func(b *bench, ctx context.Context) error { return b.acks(ctx, "0") }, 2 * time.Minute},
	{"acks 1", func(b *bench, ctx context.Context) error { return b.acks(ctx, "1") }, 2 * time.Minute},
	{"acks all", func(b *bench, ctx context.Context) error { return b.acks(ctx, "all") }, 2 * time.Minute},
	{"idempotent", func(b *bench, ctx context.Context) error { return b.acks(ctx, "idempotent") }, 2 * time.Minute},
	{"consume", (*bench).consume, 2 * time.Minute},
	{"seek", (*bench).seek, 2 * time.Minute},
	{"group", (*bench).group, 5 * time.Minute},
	{"admin", (*bench).admin, 3 * time.Minute},
	{"more", (*bench).more, 5 * time.Minute},
	{"killed", (*bench).killed, 5 * time.Minute},
}

// bench is a client and the broker it is held to.
type bench struct {
	client
	*judge
	name    string // of the client, in names of topics
	program string // seglog
	dir     string
	records int // of each part of a check
}
