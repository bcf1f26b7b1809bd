package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const topicsHelp = `Topics tells of the topics of a broker that runs, seglog's or Kafka's, and makes,
extends and deletes them. seglog configs alter changes their configuration.`

func newTopics() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topics",
		Short: "List, describe, create, extend and delete topics",
		Long:  topicsHelp,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	broker := brokerFlag(cmd.PersistentFlags())
	cmd.AddCommand(newTopicsList(broker), newTopicsDescribe(broker), newTopicsCreate(broker), newTopicsAlter(broker), newTopicsDelete(broker))
	return cmd
}

func newTopicsList(broker *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all topics, with the numbers of their partitions and replicas",
		Args:  cobra.NoArgs,
		RunE: asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, _ []string) error {
			topics, err := c.metadata(ctx, nil)
			if err != nil {
				return err
			}
			return listTopics(cmd.OutOrStdout(), topics, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object a line")
	return cmd
}

func listTopics(w io.Writer, topics []kmsg.MetadataResponseTopic, asJSON bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(t, "TOPIC\tPARTITIONS\tREPLICAS")
	}
	for _, topic := range topics {
		if !asJSON {
			fmt.Fprintf(t, "%s\t%d\t%d\n", *topic.Topic, len(topic.Partitions), replicas(topic))
			continue
		}
		err := writeJSON(w, struct {
			Topic      string `json:"topic"`
			Partitions int    `json:"partitions"`
			Replicas   int    `json:"replicas"`
			Internal   bool   `json:"internal"`
		}{*topic.Topic, len(topic.Partitions), replicas(topic), topic.IsInternal})
		if err != nil {
			return err
		}
	}
	return t.Flush()
}

// writeJSON writes a line.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// replicas is how many the partitions have, the most of them.
func replicas(t kmsg.MetadataResponseTopic) (n int) {
	for _, p := range t.Partitions {
		n = max(n, len(p.Replicas))
	}
	return n
}

// metadata is that of topics by their names, which have to exist, or of all
// there are, in order.
func (c cluster) metadata(ctx context.Context, names []string) ([]kmsg.MetadataResponseTopic, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, n := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(n)
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return nil, err
	}
	for i := range resp.Topics {
		t := &resp.Topics[i]
		name := "a topic without a name"
		if t.Topic != nil {
			name = *t.Topic
		}
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case err == kerr.UnknownTopicOrPartition:
			return nil, noTopic(name)
		case err == kerr.InvalidTopicException:
			return nil, usagef("%q is no name of a topic: one has 1 to 249 letters, digits, '.', '_' and '-'", name)
		case err != nil || t.Topic == nil:
			return nil, fmt.Errorf("topic %s: %w", name, err)
		}
		slices.SortFunc(t.Partitions, func(a, b kmsg.MetadataResponseTopicPartition) int { return cmp.Compare(a.Partition, b.Partition) })
	}
	slices.SortFunc(resp.Topics, func(a, b kmsg.MetadataResponseTopic) int { return cmp.Compare(*a.Topic, *b.Topic) })
	return resp.Topics, nil
}

// unknownTopic is the error of a topic that is not there.
type unknownTopic struct{ name string }

func (e unknownTopic) Error() string {
	return fmt.Sprintf("there is no topic %q; seglog topics list names all, seglog topics create makes one", e.name)
}

func noTopic(name string) error { return usageError{unknownTopic{name}} }
