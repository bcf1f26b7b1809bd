package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group/assign"
	"github.com/seglog/seglog/internal/kafkadir"
)

const topicsDescribeHelp = `Describe tells of the topics named, or of all, their id, their own configuration and
each partition's leader and replicas.

With --offsets it tells of each partition's earliest offset and of its latest, which
is that of the next record; where both are the same it is empty.`

func newTopicsDescribe(broker *string) *cobra.Command {
	var asJSON, offsets bool
	cmd := &cobra.Command{
		Use:     "describe [TOPIC...]",
		Short:   "Tell of topics and their partitions",
		Long:    topicsDescribeHelp,
		Example: "  seglog topics describe orders --offsets",
		RunE: asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, args []string) error {
			list, err := c.describeTopics(ctx, args, offsets)
			if err != nil {
				return err
			}
			for i, t := range list {
				if asJSON {
					err = writeJSON(cmd.OutOrStdout(), t)
				} else {
					err = t.writeText(cmd.OutOrStdout(), i > 0, offsets)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&offsets, "offsets", false, "tell of the earliest and the latest offset, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object a line, of each topic")
	return cmd
}

// topicInfo is what describe tells of a topic.
type topicInfo struct {
	Topic      string               `json:"topic"`
	ID         string               `json:"id"`
	Internal   bool                 `json:"internal"`
	Configs    map[string]string    `json:"configs"`
	Partitions []topicPartitionInfo `json:"partitions"`

	configs  []string // in order
	replicas int
}

type topicPartitionInfo struct {
	Partition   int32   `json:"partition"`
	Leader      int32   `json:"leader"` // -1: none
	LeaderEpoch int32   `json:"leader_epoch"`
	Replicas    []int32 `json:"replicas"`
	ISR         []int32 `json:"isr"`
	Earliest    *int64  `json:"earliest,omitempty"`
	Latest      *int64  `json:"latest,omitempty"`
}

func (c cluster) describeTopics(ctx context.Context, names []string, withOffsets bool) ([]*topicInfo, error) {
	topics, err := c.metadata(ctx, names)
	if err != nil {
		return nil, err
	}
	var earliestOf, latestOf map[assign.TopicPartition]int64
	if withOffsets {
		of := make(map[assign.TopicPartition]bool)
		for _, t := range topics {
			for _, p := range t.Partitions {
				of[assign.TopicPartition{Topic: *t.Topic, Partition: p.Partition}] = true
			}
		}
		if earliestOf, err = c.offsets(ctx, of, earliest); err != nil {
			return nil, err
		}
		if latestOf, err = c.offsets(ctx, of, latest); err != nil {
			return nil, err
		}
	}
	var list []*topicInfo
	for _, t := range topics {
		i := &topicInfo{Topic: *t.Topic, ID: kafkadir.ID(t.TopicID).String(), Internal: t.IsInternal,
			Configs: make(map[string]string), Partitions: []topicPartitionInfo{}, replicas: replicas(t)}
		own, err := c.configsOf(ctx, resource{kmsg.ConfigResourceTypeTopic, i.Topic})
		if err != nil {
			return nil, err
		}
		for _, v := range own {
			if v.Source == sourceNames[kmsg.ConfigSourceDynamicTopicConfig] {
				i.Configs[v.Name] = v.text()
				i.configs = append(i.configs, v.Name+"="+v.text())
			}
		}
		for _, p := range t.Partitions {
			one := topicPartitionInfo{Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, Replicas: p.Replicas, ISR: p.ISR}
			tp := assign.TopicPartition{Topic: i.Topic, Partition: p.Partition}
			if first, ok := earliestOf[tp]; ok {
				one.Earliest = &first
			}
			if end, ok := latestOf[tp]; ok {
				one.Latest = &end
			}
			i.Partitions = append(i.Partitions, one)
		}
		list = append(list, i)
	}
	return list, nil
}

func (i *topicInfo) writeText(w io.Writer, apart, offsets bool) error {
	if apart {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "topic %s: id %s, %s, %s", i.Topic, i.ID, plural(int64(len(i.Partitions)), "partition"), plural(int64(i.replicas), "replica"))
	if len(i.configs) > 0 {
		fmt.Fprintf(w, ", %s", strings.Join(i.configs, " "))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nPARTITION\tLEADER\tREPLICAS\tIN SYNC")
	if offsets {
		fmt.Fprint(t, "\tEARLIEST\tLATEST")
	}
	fmt.Fprintln(t)
	for _, p := range i.Partitions {
		leader := "-"
		if p.Leader >= 0 {
			leader = fmt.Sprint(p.Leader)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s", p.Partition, leader, numbers(p.Replicas), numbers(p.ISR))
		if offsets {
			fmt.Fprintf(t, "\t%s\t%s", orDash(p.Earliest), orDash(p.Latest))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func numbers(list []int32) string {
	return dash(strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]"))
}

func orDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}
