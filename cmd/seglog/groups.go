package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group/assign"
)

const groupsHelp = `Groups tells of the consumer groups of a broker that runs, seglog's or Kafka's, and
sets the offsets that they have committed.`

func newGroups() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "groups",
		Short: "List and describe consumer groups, and reset their offsets",
		Long:  groupsHelp,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	broker := brokerFlag(cmd.PersistentFlags())
	cmd.AddCommand(newGroupsList(broker), newGroupsDescribe(broker), newGroupsReset(broker))
	return cmd
}

func newGroupsList(broker *string) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List all groups",
		Args:  cobra.NoArgs,
		RunE: asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, _ []string) error {
			return c.list(ctx, cmd.OutOrStdout())
		}),
	}
}

func (c cluster) list(ctx context.Context, w io.Writer) error {
	resp, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, c)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "GROUP\tSTATE\tTYPE")
	for _, g := range resp.Groups {
		fmt.Fprintf(t, "%s\t%s\t%s\n", g.Group, g.GroupState, dash(g.ProtocolType))
	}
	return t.Flush()
}

func newGroupsDescribe(broker *string) *cobra.Command {
	return &cobra.Command{
		Use:   "describe GROUP",
		Short: "Tell of a group's members and how far they lag behind",
		Args:  cobra.ExactArgs(1),
		RunE: asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, args []string) error {
			return c.describe(ctx, cmd.OutOrStdout(), args[0])
		}),
	}
}

func (c cluster) describe(ctx context.Context, w io.Writer, group string) error {
	g, err := c.group(ctx, group)
	if err != nil {
		return err
	}
	committed, err := c.committed(ctx, group)
	if err != nil {
		return err
	}
	owners, rows := make(map[assign.TopicPartition]string), make(map[assign.TopicPartition]bool)
	for _, m := range g.Members {
		if g.ProtocolType != "consumer" {
			break // what others assign only they know
		}
		list, err := assign.ParseAssignment(m.MemberAssignment)
		if err != nil {
			return fmt.Errorf("the assignment of %s: %w", m.MemberID, err)
		}
		for _, tp := range list {
			owners[tp], rows[tp] = m.ClientID+" "+m.ClientHost, true
		}
	}
	for tp := range committed {
		rows[tp] = true
	}
	ends, err := c.offsets(ctx, rows, latest)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "group %s: %s, %s\n", group, g.State, plural(int64(len(g.Members)), "member"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TOPIC\tPARTITION\tCOMMITTED\tEND\tLAG\tMEMBER")
	for _, tp := range inOrder(rows) {
		at, end, lag := "-", "-", "-"
		offset, hasOffset := committed[tp]
		last, hasEnd := ends[tp]
		if hasOffset {
			at = fmt.Sprint(offset)
		}
		if hasEnd {
			end = fmt.Sprint(last)
		}
		if hasOffset && hasEnd {
			lag = fmt.Sprint(max(last-offset, 0))
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\n", tp.Topic, tp.Partition, at, end, lag, dash(owners[tp]))
	}
	return t.Flush()
}

// group describes a group, which has to exist.
func (c cluster) group(ctx context.Context, group string) (g kmsg.DescribeGroupsResponseGroup, err error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return g, err
	}
	if len(resp.Groups) != 1 {
		return g, fmt.Errorf("the broker described %d groups, want 1", len(resp.Groups))
	}
	g = resp.Groups[0]
	if err := kerr.ErrorForCode(g.ErrorCode); err == kerr.GroupIDNotFound || err == nil && g.State == "Dead" {
		return g, usagef("there is no group %q; seglog groups list names all", group)
	} else if err != nil {
		return g, err
	}
	return g, nil
}
