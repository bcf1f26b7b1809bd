package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const topicsCreateHelp = `Create creates topics. What is not said is the broker's default: num.partitions,
default.replication.factor, and the defaults of the topics' configuration, which
seglog configs describe topic NAME --all tells.`

type topicsCreateFlags struct {
	partitions  int32
	replicas    int16
	configs     []string
	ifNotExists bool
	dryRun      bool
}

func newTopicsCreate(broker *string) *cobra.Command {
	var f topicsCreateFlags
	cmd := &cobra.Command{
		Use:     "create TOPIC...",
		Short:   "Create topics",
		Long:    topicsCreateHelp,
		Example: "  seglog topics create orders --partitions 4 --config retention.ms=86400000 --config cleanup.policy=compact,delete",
		Args:    cobra.MinimumNArgs(1),
	}
	flags := cmd.Flags()
	flags.Int32VarP(&f.partitions, "partitions", "p", 0, "number of partitions of each (default the broker's num.partitions)")
	flags.Int16VarP(&f.replicas, "replication-factor", "r", 0, "number of replicas of each partition (default the broker's default.replication.factor)")
	flags.StringArrayVar(&f.configs, "config", nil, "a setting of the topics, as `key=value`; may be given more than once")
	flags.BoolVar(&f.ifNotExists, "if-not-exists", false, "leave topics that exist as they are; else that is an error")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only tell what would be created")
	cmd.RunE = runs(func(cmd *cobra.Command, args []string) error {
		if flags.Changed("partitions") && f.partitions < 1 || flags.Changed("replication-factor") && f.replicas < 1 {
			return usagef("--partitions and --replication-factor want 1 or more")
		}
		configs, err := pairs("--config", f.configs)
		if err != nil {
			return err
		}
		return asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, args []string) error {
			return f.run(ctx, cmd, c, args, configs)
		})(cmd, args)
	})
	return cmd
}

// pair is what key=value gives.
type pair struct{ key, value string }

func pairs(flag string, list []string) ([]pair, error) {
	var all []pair
	for _, text := range list {
		key, value, ok := strings.Cut(text, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, usagef("%s %q: want key=value", flag, text)
		}
		all = append(all, pair{key, value})
	}
	return all, nil
}

func (f *topicsCreateFlags) run(ctx context.Context, cmd *cobra.Command, c cluster, names []string, configs []pair) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.ValidateOnly, req.TimeoutMillis = f.dryRun, int32(askedFor.Milliseconds())
	for _, name := range names {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, -1, -1
		if f.partitions > 0 {
			t.NumPartitions = f.partitions
		}
		if f.replicas > 0 {
			t.ReplicationFactor = f.replicas
		}
		for _, p := range configs {
			one := kmsg.NewCreateTopicsRequestTopicConfig()
			one.Name, one.Value = p.key, kmsg.StringPtr(p.value)
			t.Configs = append(t.Configs, one)
		}
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	did := "created"
	if f.dryRun {
		did = "would create"
	}
	var errs []error
	for _, t := range resp.Topics {
		err := answered(t.ErrorCode, t.ErrorMessage)
		switch {
		case f.ifNotExists && errors.Is(err, kerr.TopicAlreadyExists):
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "topic %s exists, and is left as it is\n", t.Topic)
		case err != nil:
			err = aboutTopic(t.Topic, err)
		default:
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s topic %s: %s, %s\n", did, t.Topic, plural(int64(t.NumPartitions), "partition"), plural(int64(t.ReplicationFactor), "replica"))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func aboutTopic(name string, err error) error { return fmt.Errorf("topic %s: %w", name, err) }

// createTopic creates a topic by the broker's defaults. That another made it
// meanwhile is no error.
func (c cluster) createTopic(ctx context.Context, name string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(askedFor.Milliseconds())
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, -1, -1
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		if err := answered(t.ErrorCode, t.ErrorMessage); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return aboutTopic(t.Topic, err)
		}
	}
	return nil
}
