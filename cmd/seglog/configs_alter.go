package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const configsAlterHelp = `Alter changes settings of a topic's or a broker's configuration, all of them or none,
and leaves the others as they are. They count at once, and are kept.`

type configsAlterFlags struct {
	set, remove []string
	dryRun      bool
}

func newConfigsAlter(broker *string) *cobra.Command {
	var f configsAlterFlags
	cmd := &cobra.Command{
		Use:     "alter topic|broker NAME",
		Short:   "Set and delete settings of a topic or a broker",
		Long:    configsAlterHelp,
		Example: "  seglog configs alter topic orders --add retention.ms=86400000 --delete cleanup.policy\n  seglog configs alter broker default --add log.retention.ms=604800000",
		Args:    cobra.ExactArgs(2),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			of, err := parseResource(args)
			if err != nil {
				return err
			}
			set, err := pairs("--add", f.set)
			if err != nil {
				return err
			}
			if len(set)+len(f.remove) == 0 {
				return usagef("nothing to alter: give --add key=value or --delete key")
			}
			return asks(broker, func(ctx context.Context, cmd *cobra.Command, c cluster, _ []string) error {
				if err := c.alterConfigs(ctx, of, set, f.remove, f.dryRun); err != nil {
					return err
				}
				did := "altered"
				if f.dryRun {
					did = "would alter"
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s of %s\n", did, plural(int64(len(set)+len(f.remove)), "setting"), of)
				return err
			})(cmd, args)
		}),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.set, "add", nil, "set a setting, as `key=value`; may be given more than once")
	flags.StringArrayVar(&f.remove, "delete", nil, "take a setting back to its default, by its `key`; may be given more than once")
	flags.BoolVar(&f.dryRun, "dry-run", false, "change nothing, only tell what would be refused")
	return cmd
}

func (c cluster) alterConfigs(ctx context.Context, of resource, set []pair, remove []string, dryRun bool) error {
	if err := c.known(ctx, of); err != nil {
		return err
	}
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = of.kind, of.name
	for _, p := range set {
		one := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		one.Name, one.Op, one.Value = p.key, kmsg.IncrementalAlterConfigOpSet, kmsg.StringPtr(p.value)
		r.Configs = append(r.Configs, one)
	}
	for _, key := range remove {
		one := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		one.Name, one.Op = strings.TrimSpace(key), kmsg.IncrementalAlterConfigOpDelete
		r.Configs = append(r.Configs, one)
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.ValidateOnly = dryRun
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return aboutResource(of, err)
	}
	for _, r := range resp.Resources {
		if err := answered(r.ErrorCode, r.ErrorMessage); err != nil {
			return aboutResource(of, err)
		}
	}
	return nil
}
