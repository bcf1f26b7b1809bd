package main

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/broker/kafka"
)

// brokerConfig is that of the tests' brokers, which have no time to wait for
// members of groups.
var brokerConfig = map[string]string{"offsets.topic.num.partitions": "2", "group.initial.rebalance.delay.ms": "0"}

// serveBroker serves a directory on loopback until the func it returns is called.
// While mute is set what it answers gets lost.
func serveBroker(dir string, mute *atomic.Bool) (b *broker.Broker, address string, stop func() error, err error) {
	if b, err = broker.Open(dir, broker.Options{Config: brokerConfig}); err != nil {
		return nil, "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, errors.Join(err, b.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- kafka.Serve(ctx, mutable{l, mute}, b) }()
	return b, l.Addr().String(), func() error {
		cancel()
		return errors.Join(<-done, b.Close())
	}, nil
}

type mutable struct {
	net.Listener
	mute *atomic.Bool
}

func (l mutable) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return mutableConn{c, l.mute}, err
}

type mutableConn struct {
	net.Conn
	mute *atomic.Bool
}

func (c mutableConn) Write(b []byte) (int, error) {
	if c.mute.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// serveScript [DIR] serves a directory for the rest of the script, with its
// address in $BROKER.
func serveScript(ts *testscript.TestScript, _ bool, args []string) {
	dir := "broker"
	if len(args) > 0 {
		dir = args[0]
	}
	_, address, stop, err := serveBroker(ts.MkAbs(dir), new(atomic.Bool))
	ts.Check(err)
	ts.Defer(func() { ts.Check(stop()) })
	ts.Setenv("BROKER", address)
}

// timed TOPIC N [PARTITION] sends N records with the values 0, 1, 2 and so on, a
// second apart from noon of 2026-01-31 on, to a topic of the broker.
func timed(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	c, err := kgo.NewClient(kgo.SeedBrokers(ts.Getenv("BROKER")), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	ts.Check(err)
	defer c.Close()
	partition := 0
	if len(args) > 2 {
		partition, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for i := range n {
		r := &kgo.Record{Topic: args[0], Partition: int32(partition), Value: []byte(strconv.Itoa(i)), Timestamp: noon.Add(time.Duration(i) * time.Second)}
		ts.Check(c.ProduceSync(context.Background(), r).FirstErr())
	}
}
