package main

import (
	"github.com/spf13/cobra"
)

const rootHelp = `seglog works on logs of the seglog engine, whose files are Apache Kafka's:
a log is a directory of segments, such as one partition of a Kafka broker.
Serve is such a broker; topics, produce, consume, configs and groups ask one.

Exit codes: 0 all is well; 1 a fault was found or met: damage, a full disk, a
log in use; 2 the command was called wrongly: a flag, an offset the log does
not hold, a directory without a log. A command stopped by a signal puts what it
has begun in order and exits 128 plus the signal's number (130 for ^C), except
read --follow and consume, which have no other end and exit 0.

Sizes are written like 64MiB (1024) or 64MB (1000), ages like 90s, 15m, 24h or
7d. Progress goes to stderr if that is a terminal. There is no colour if
NO_COLOR is set or the output is no terminal.`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "seglog",
		Short:         "Append to, read and look into logs in Kafka's format",
		Long:          rootHelp,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("seglog {{.Version}}\n")
	root.AddCommand(
		newAppend(), newRead(), newInfo(), newVerify(), newDump(),
		newExplain(), newRetain(), newCompact(), newTruncate(), newRepair(),
		newServe(), newTopics(), newProduce(), newConsume(), newConfigs(), newGroups(),
		newMan(), newVersion(),
	)
	return root
}
