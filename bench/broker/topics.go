package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The versions of requests, which both brokers have and in which topics have
// names.
const (
	produceVersion      = 9
	fetchVersion        = 12
	listOffsetsVersion  = 7
	createTopicsVersion = 5
	deleteTopicsVersion = 4
)

// create makes a topic and waits until its partitions can be written.
func (n *node) create(ctx context.Context, partitions int32) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w, err := dial(ctx, n)
	if err != nil {
		return "", err
	}
	defer w.close()
	n.topics++
	name := fmt.Sprintf("bench%d", n.topics)
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(patience.Milliseconds())
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, 1
	req.Topics = append(req.Topics, t)
	resp, err := w.ask(req, createTopicsVersion)
	if err != nil {
		return "", err
	}
	if err := kerr.ErrorForCode(resp.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode); err != nil {
		return "", err
	}
	return name, w.ready(ctx, name, partitions)
}

// ready waits until all partitions of a topic are served: they are not when the
// answer to CreateTopics comes, nor when a broker listens.
func (w *wire) ready(ctx context.Context, topic string, partitions int32) error {
	return await(ctx, 2*time.Millisecond, func() error {
		_, err := w.ends(topic, partitions)
		return err
	})
}

func (n *node) delete(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w, err := dial(ctx, n)
	if err != nil {
		return err
	}
	defer w.close()
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TopicNames, req.TimeoutMillis = []string{name}, int32(patience.Milliseconds())
	resp, err := w.ask(req, deleteTopicsVersion)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(resp.(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode); err != nil {
		return err
	}
	// Until all of it is gone there is work left that is not of the next row.
	return await(ctx, 50*time.Millisecond, func() error {
		left, err := filepath.Glob(filepath.Join(n.dir, name+"-*"))
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d directories of topic %s are left", len(left), name)
		}
		return err
	})
}

// ends is how many records a topic's partitions have together.
func (w *wire) ends(topic string, partitions int32) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for i := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp, p.CurrentLeaderEpoch = i, -1, -1
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	resp, err := w.ask(req, listOffsetsVersion)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, t := range resp.(*kmsg.ListOffsetsResponse).Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return 0, fmt.Errorf("%s-%d: %w", topic, p.Partition, err)
			}
			sum += p.Offset
		}
	}
	return sum, nil
}
