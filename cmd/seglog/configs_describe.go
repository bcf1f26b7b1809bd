package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const configsDescribeHelp = `Describe prints what is set of a topic's or a broker's configuration, or with --all
all that can be, with where each value comes from and its default:

  topic            set for this topic
  broker           altered for this broker
  brokers          altered for all brokers
  server           given when the broker was started
  default          nobody set it`

// sourceNames are those of where a value comes from.
var sourceNames = map[kmsg.ConfigSource]string{
	kmsg.ConfigSourceDynamicTopicConfig:         "topic",
	kmsg.ConfigSourceDynamicBrokerConfig:        "broker",
	kmsg.ConfigSourceDynamicDefaultBrokerConfig: "brokers",
	kmsg.ConfigSourceStaticBrokerConfig:         "server",
	kmsg.ConfigSourceDefaultConfig:              "default",
	kmsg.ConfigSourceDynamicBrokerLoggerConfig:  "logger",
	kmsg.ConfigSourceClientMetricsConfig:        "client metrics",
	kmsg.ConfigSourceGroupConfig:                "group",
}

func newConfigsDescribe(broker *string) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:     "describe topic|broker NAME",
		Short:   "Tell how a topic or a broker is configured",
		Long:    configsDescribeHelp,
		Example: "  seglog configs describe topic orders --all\n  seglog configs describe broker 1\n  seglog configs describe broker default",
		Args:    cobra.ExactArgs(2),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			of, err := parseResource(args)
			if err != nil {
				return err
			}
			return asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, _ []string) error {
				values, err := c.configsOf(ctx, of)
				if err != nil {
					return err
				}
				if !all {
					values = slices.DeleteFunc(values, func(v configValue) bool { return !v.setFor(of) })
				}
				return writeConfigs(cmd.OutOrStdout(), values, asJSON)
			})(cmd, args)
		}),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "tell of what nobody set, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object a line, of each setting")
	return cmd
}

// configValue is a setting as a broker describes it.
type configValue struct {
	Name      string  `json:"name"`
	Value     *string `json:"value"` // null: none, or not to be told
	Source    string  `json:"source"`
	Default   *string `json:"default"`
	ReadOnly  bool    `json:"read_only"`
	Sensitive bool    `json:"sensitive"`
}

// setFor says whether it was set: for a topic itself, or for a broker at all.
func (v configValue) setFor(of resource) bool {
	if of.kind == kmsg.ConfigResourceTypeTopic {
		return v.Source == sourceNames[kmsg.ConfigSourceDynamicTopicConfig]
	}
	return v.Source != sourceNames[kmsg.ConfigSourceDefaultConfig]
}

func (v configValue) text() string {
	if v.Value == nil {
		return ""
	}
	return *v.Value
}

// configsOf are all settings of a topic, which has to exist, or a broker, in order.
func (c cluster) configsOf(ctx context.Context, of resource) ([]configValue, error) {
	if err := c.known(ctx, of); err != nil {
		return nil, err
	}
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms = true
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName = of.kind, of.name
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return nil, aboutResource(of, err)
	}
	if len(resp.Resources) != 1 {
		return nil, fmt.Errorf("the broker described %d resources, want 1", len(resp.Resources))
	}
	if err := answered(resp.Resources[0].ErrorCode, resp.Resources[0].ErrorMessage); err != nil {
		return nil, aboutResource(of, err)
	}
	var list []configValue
	for _, v := range resp.Resources[0].Configs {
		one := configValue{Name: v.Name, Value: v.Value, ReadOnly: v.ReadOnly, Sensitive: v.IsSensitive, Source: sourceNames[v.Source]}
		if one.Source == "" {
			one.Source = fmt.Sprintf("source %d", v.Source)
		}
		for _, s := range v.ConfigSynonyms {
			if s.Source == kmsg.ConfigSourceDefaultConfig {
				one.Default = inMillis(v.Name, s.Name, s.Value)
			}
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b configValue) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// inMillis is the value of a synonym in the unit of the setting that it stands for:
// what log.retention.hours says is retention.ms in hours.
func inMillis(name, synonym string, value *string) *string {
	unit := time.Hour
	switch {
	case !strings.HasSuffix(name, ".ms") || value == nil:
		return value
	case strings.HasSuffix(synonym, ".minutes"):
		unit = time.Minute
	case !strings.HasSuffix(synonym, ".hours"):
		return value
	}
	n, err := strconv.ParseInt(*value, 10, 32)
	if err != nil || n < 0 { // no limit, in any unit
		return value
	}
	ms := strconv.FormatInt(n*unit.Milliseconds(), 10)
	return &ms
}

func aboutResource(of resource, err error) error {
	if of.kind == kmsg.ConfigResourceTypeTopic && errors.Is(err, kerr.UnknownTopicOrPartition) {
		return noTopic(of.name)
	}
	return fmt.Errorf("%s: %w", of, err)
}

func writeConfigs(w io.Writer, values []configValue, asJSON bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(t, "NAME\tVALUE\tSOURCE\tDEFAULT")
	}
	for _, v := range values {
		if asJSON {
			if err := writeJSON(w, v); err != nil {
				return err
			}
			continue
		}
		value, otherwise := v.text(), "-"
		if v.Sensitive {
			value = "(not told)"
		}
		if v.Default != nil {
			otherwise = dash(*v.Default)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", v.Name, dash(value), v.Source, otherwise)
	}
	return t.Flush()
}
