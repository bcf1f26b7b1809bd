package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const configsHelp = `Configs tells of the configuration of a topic or a broker, seglog's or Kafka's, and
alters it while the broker runs.

What it is about is "topic NAME" or "broker ID", where "broker default" is all brokers
that have no setting of their own.`

func newConfigs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "configs",
		Short: "Describe and alter the configuration of topics and brokers",
		Long:  configsHelp,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	broker := brokerFlag(cmd.PersistentFlags())
	cmd.AddCommand(newConfigsDescribe(broker), newConfigsAlter(broker))
	return cmd
}

// resource is what a configuration is of, as the protocol names it.
type resource struct {
	kind kmsg.ConfigResourceType
	name string // of all brokers it is empty
}

// parseResource reads what a configuration is of from a command's arguments.
func parseResource(args []string) (resource, error) {
	if len(args) != 2 {
		return resource{}, usagef("want topic NAME, broker ID or broker default")
	}
	switch kind, name := args[0], args[1]; kind {
	case "topic", "topics":
		if name == "" {
			return resource{}, usagef("topic: want the name of one")
		}
		return resource{kmsg.ConfigResourceTypeTopic, name}, nil
	case "broker", "brokers":
		if name == "default" {
			return resource{kmsg.ConfigResourceTypeBroker, ""}, nil
		}
		if id, err := strconv.ParseInt(name, 10, 32); err != nil || id < 0 {
			return resource{}, usagef("broker %q: want its id, a number, or default", name)
		}
		return resource{kmsg.ConfigResourceTypeBroker, name}, nil
	default:
		return resource{}, usagef("%q has no configuration: want topic or broker", kind)
	}
}

// known says no of a broker that is not of the cluster: nothing can be asked of it.
func (c cluster) known(ctx context.Context, of resource) error {
	if of.kind != kmsg.ConfigResourceTypeBroker || of.name == "" {
		return nil
	}
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	var ids []int32
	for _, b := range resp.Brokers {
		if ids = append(ids, b.NodeID); fmt.Sprint(b.NodeID) == of.name {
			return nil
		}
	}
	return usagef("there is no broker %s; there are %s", of.name, numbers(ids))
}

func (r resource) String() string {
	switch {
	case r.kind == kmsg.ConfigResourceTypeTopic:
		return "topic " + r.name
	case r.name == "":
		return "all brokers"
	}
	return "broker " + r.name
}
