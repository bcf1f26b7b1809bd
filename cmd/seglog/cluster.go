package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// brokerFlag is the flag of those commands that ask a broker.
func brokerFlag(flags *pflag.FlagSet) *string {
	return flags.StringP("broker", "b", "127.0.0.1:9092", "the `address` of the broker, or of one of a cluster")
}

// cluster is a broker that is asked, with those it knows of.
type cluster struct{ *kgo.Client }

const askedFor = 15 * time.Second // how long a broker may take to answer

// connect makes sure that there is a broker: what asks it later may try for ever.
func connect(ctx context.Context, broker string, options ...kgo.Opt) (cluster, error) {
	versions := kversion.Stable() // from version 10 on topics are told by ids, of which nothing else tells here
	for _, key := range []kmsg.Key{kmsg.OffsetCommit, kmsg.OffsetFetch} {
		versions.SetMaxKeyVersion(key.Int16(), 9)
	}
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(broker), kgo.ClientID("seglog"), kgo.MaxVersions(versions),
		kgo.RequestRetries(3), kgo.RetryTimeout(askedFor), kgo.DisableClientMetrics()}, options...)...)
	if err != nil {
		return cluster{}, usagef("--broker %s: %v", broker, err)
	}
	c := cluster{client}
	if err := c.reached(ctx, broker); err != nil {
		c.Close()
		return cluster{}, err
	}
	return c, nil
}

// reached says what is wrong with an address at which no broker answers.
func (c cluster) reached(ctx context.Context, broker string) error {
	asking, cancel := context.WithTimeout(ctx, askedFor)
	defer cancel()
	if err := c.Ping(asking); err != nil && ctx.Err() == nil {
		return fmt.Errorf("no broker answers at %s: %w; seglog serve starts one, --broker names another address", broker, err)
	}
	return context.Cause(ctx)
}

// asks is a command that asks a broker.
func asks(broker *string, f func(ctx context.Context, cmd *cobra.Command, c cluster, args []string) error) func(*cobra.Command, []string) error {
	return runs(func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		c, err := connect(ctx, *broker)
		if err != nil {
			return err
		}
		defer c.Close()
		return whyFailed(ctx, f(ctx, cmd, c, args))
	})
}

// whyFailed is the signal that ended ctx in place of what a client makes of it,
// and says whose an address is that cannot be reached.
func whyFailed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return unreached(err)
}

// unreached is err with what to look at if a broker that has answered told of an
// address that cannot be reached.
func unreached(err error) error {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return fmt.Errorf("%w; the broker told this address: it has stopped, or its advertised.listeners is wrong", err)
	}
	return err
}

// answered is the error of an answer, with what the broker says of it. Errors
// of what was asked for are the caller's.
func answered(code int16, message *string) error {
	err := kerr.TypedErrorForCode(code)
	if err == nil {
		return nil
	}
	said := answerError{err, err.Description}
	if message != nil && *message != "" {
		said.text = *message
	}
	switch err {
	case kerr.UnknownTopicOrPartition, kerr.TopicAlreadyExists, kerr.InvalidTopicException, kerr.InvalidPartitions,
		kerr.InvalidReplicationFactor, kerr.InvalidConfig, kerr.InvalidRequest, kerr.PolicyViolation:
		return usageError{said}
	}
	return said
}

// answerError is one of Kafka's errors in a broker's words.
type answerError struct {
	code *kerr.Error
	text string
}

func (e answerError) Error() string { return e.code.Message + ": " + e.text }
func (e answerError) Unwrap() error { return e.code }
