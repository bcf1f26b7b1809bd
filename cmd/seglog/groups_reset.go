package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group/assign"
)

const groupsResetHelp = `Reset commits other offsets for a group, of all partitions that it has committed, or
of those of the topics named. The group must have no members: they would go on
where they are, and commit that.

--to says where it is to go on: earliest, latest, an offset that each of the
partitions has, or a time (RFC 3339, a date, -15m, or now), which is the first
record as late as that, or the end.

With --dry-run it only tells what would be committed.`

type groupsResetFlags struct {
	topics []string
	to     string
	dryRun bool
}

func newGroupsReset(broker *string) *cobra.Command {
	var f groupsResetFlags
	cmd := &cobra.Command{
		Use:     "reset GROUP --to WHERE",
		Short:   "Have a group go on elsewhere",
		Long:    groupsResetHelp,
		Example: "  seglog groups reset billing --topic orders --to earliest --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			to, err := parseTarget(f.to, time.Now())
			if err != nil {
				return err
			}
			return asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, args []string) error {
				return f.run(ctx, cmd.OutOrStdout(), c, args[0], to)
			})(cmd, args)
		}),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.topics, "topic", nil, "only this topic; may be given more than once")
	flags.StringVar(&f.to, "to", "", "where to go on: earliest, latest, an offset or a time")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only tell what would be committed")
	_ = cmd.MarkFlagRequired("to")
	return cmd
}

// target is where a group is to go on: at an offset, or at a time as ListOffsets
// takes it.
type target struct{ offset, time int64 } // offset: -1 for none

func parseTarget(text string, now time.Time) (target, error) {
	switch text {
	case "earliest":
		return target{-1, earliest}, nil
	case "latest":
		return target{-1, latest}, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return target{offset: n}, nil
	}
	at, err := parseTime(text, now)
	if err != nil || at.UnixMilli() < 0 {
		return target{}, usagef("--to %q: want earliest, latest, an offset or a time since 1970", text)
	}
	return target{-1, at.UnixMilli()}, nil
}

func (f *groupsResetFlags) run(ctx context.Context, w io.Writer, c cluster, group string, to target) error {
	g, err := c.group(ctx, group)
	if err != nil {
		return err
	}
	if len(g.Members) > 0 {
		return usagef("group %q has %s, which would commit where they are: stop them first", group, plural(int64(len(g.Members)), "member"))
	}
	before, err := c.committed(ctx, group)
	if err != nil {
		return err
	}
	of := make(map[assign.TopicPartition]bool)
	for tp := range before {
		if len(f.topics) == 0 || slices.Contains(f.topics, tp.Topic) {
			of[tp] = true
		}
	}
	if len(of) == 0 {
		return usagef("group %q has committed no offsets of these topics; seglog groups describe tells of all", group)
	}
	after, err := c.targets(ctx, of, to)
	if err != nil {
		return err
	}
	did := "would reset"
	if !f.dryRun {
		did = "reset"
		if err := c.commit(ctx, group, after); err != nil {
			return err
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TOPIC\tPARTITION\tFROM\tTO")
	for _, tp := range inOrder(after) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\n", tp.Topic, tp.Partition, before[tp], after[tp])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s %s\n", did, plural(int64(len(after)), "partition"))
	return err
}

// targets are the offsets to go on at, of those of the partitions that exist.
func (c cluster) targets(ctx context.Context, of map[assign.TopicPartition]bool, to target) (map[assign.TopicPartition]int64, error) {
	ends, err := c.offsets(ctx, of, latest)
	if err != nil || to.offset < 0 && to.time == latest {
		return ends, err
	}
	if to.offset < 0 {
		found, err := c.offsets(ctx, of, to.time)
		if err != nil {
			return nil, err
		}
		for tp, offset := range found {
			ends[tp] = offset
		}
		return ends, nil
	}
	firsts, err := c.offsets(ctx, of, earliest)
	if err != nil {
		return nil, err
	}
	for tp, end := range ends {
		if first := firsts[tp]; to.offset < first || to.offset > end {
			return nil, usagef("--to %d: %s-%d holds [%d, %d): choose one from there, or its end", to.offset, tp.Topic, tp.Partition, first, end)
		}
		ends[tp] = to.offset
	}
	return ends, nil
}

func (c cluster) commit(ctx context.Context, group string, offsets map[assign.TopicPartition]int64) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	for _, tp := range inOrder(offsets) {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != tp.Topic {
			t := kmsg.NewOffsetCommitRequestTopic()
			t.Topic = tp.Topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.Metadata = tp.Partition, offsets[tp], kmsg.StringPtr("")
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("%s-%d: %w", t.Topic, p.Partition, err)
			}
		}
	}
	return nil
}
