package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const topicsAlterHelp = `Alter gives a topic more partitions. There can never be fewer: records would be lost.
With another number of partitions the records of a key may go to another one.

seglog configs alter topic NAME changes its configuration.`

func newTopicsAlter(broker *string) *cobra.Command {
	var partitions int32
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "alter TOPIC --partitions N",
		Short:   "Give a topic more partitions",
		Long:    topicsAlterHelp,
		Example: "  seglog topics alter orders --partitions 8",
		Args:    cobra.ExactArgs(1),
		RunE: asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, args []string) error {
			topics, err := c.metadata(ctx, args)
			if err != nil {
				return err
			}
			had := len(topics[0].Partitions)
			if int64(partitions) <= int64(had) {
				return usagef("--partitions %d: topic %s has %d, and partitions can only grow", partitions, args[0], had)
			}
			if err := c.extend(ctx, args[0], partitions, dryRun); err != nil {
				return err
			}
			verb := "has"
			if dryRun {
				verb = "would have"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "topic %s %s %s, after %d\n", args[0], verb, plural(int64(partitions), "partition"), had)
			return err
		}),
	}
	cmd.Flags().Int32VarP(&partitions, "partitions", "p", 0, "number of partitions it is to have in all")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only tell what would be changed")
	_ = cmd.MarkFlagRequired("partitions")
	return cmd
}

func (c cluster) extend(ctx context.Context, topic string, partitions int32, dryRun bool) error {
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.ValidateOnly, req.TimeoutMillis = dryRun, int32(askedFor.Milliseconds())
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, partitions
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		if err := answered(t.ErrorCode, t.ErrorMessage); err != nil {
			return aboutTopic(t.Topic, err)
		}
	}
	return nil
}

func newTopicsDelete(broker *string) *cobra.Command {
	var ifExists bool
	cmd := &cobra.Command{
		Use:   "delete TOPIC...",
		Short: "Delete topics with all their records",
		Long: `Delete deletes topics with all their records, at once and without asking. A broker
has to allow it (delete.topic.enable, which is true unless set).`,
		Args: cobra.MinimumNArgs(1),
		RunE: asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, args []string) error {
			return c.deleteTopics(ctx, cmd, args, ifExists)
		}),
	}
	cmd.Flags().BoolVar(&ifExists, "if-exists", false, "topics that do not exist are no error")
	return cmd
}

func (c cluster) deleteTopics(ctx context.Context, cmd *cobra.Command, names []string, ifExists bool) error {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis, req.TopicNames = int32(askedFor.Milliseconds()), names // the names for versions up to 5
	for _, name := range names {
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range resp.Topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		switch err := answered(t.ErrorCode, t.ErrorMessage); {
		case errors.Is(err, kerr.UnknownTopicOrPartition) && ifExists:
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "there was no topic %s\n", name)
			errs = append(errs, err)
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			errs = append(errs, noTopic(name))
		case err != nil:
			errs = append(errs, aboutTopic(name, err))
		default:
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "deleted topic %s\n", name)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
