package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/broker/kafka"
	"github.com/seglog/seglog/internal/kafkadir"
)

const serveHelp = `Serve answers Kafka clients on the topics in DIR, which is made if need be. It is
a broker and a cluster of one; no setting is needed. It ends with SIGINT or
SIGTERM: what was asked for is answered, the logs are closed, and it exits 0.

DIR is a Kafka broker's log directory. Topics that a broker left there are
served; nothing of them is dropped until their retention is configured.

--metrics adds metrics for Prometheus at /metrics and the state at /healthz, which
is 200 while it serves and 503 otherwise, and says why.

Settings are a broker's of Kafka by their names: from a server.properties file
(--config), and single ones (--set), which win. Those that are not known are
named and left out. What "kafka-configs --alter" changes is kept in DIR.`

type serveFlags struct {
	data, listen, config string
	set                  []string
	metrics              string
	pprof                bool
	logLevel, logFormat  string
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "serve --data DIR",
		Short:   "Be a Kafka broker on the topics in a directory",
		Long:    serveHelp,
		Example: "  seglog serve --data d --listen 127.0.0.1:9092 --set num.partitions=4",
		Args:    cobra.NoArgs,
		RunE:    runs(func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "", "the directory (log.dirs)")
	flags.StringVar(&f.listen, "listen", "", "the address to listen on (listeners); 127.0.0.1:9092 unless set")
	flags.StringVar(&f.config, "config", "", "a server.properties file")
	flags.StringArrayVar(&f.set, "set", nil, "a setting, as `key=value`; may be given more than once")
	flags.StringVar(&f.metrics, "metrics", "", "the `address` of /metrics and /healthz, as :9308; without a host it is 127.0.0.1's")
	flags.BoolVar(&f.pprof, "pprof", false, "let Go's profiles be taken, at /debug/pprof/ of that address")
	flags.StringVar(&f.logLevel, "log-level", "warn", "the least `level` that is logged to stderr: debug, info, warn or error")
	flags.StringVar(&f.logFormat, "log-format", "text", "how lines are logged: text (key=value) or json")
	return cmd
}

func (f *serveFlags) run(cmd *cobra.Command) (err error) {
	config, err := f.settings()
	if err != nil {
		return err
	}
	o, err := f.observe(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.stop()) }()
	b, err := broker.Open(config["log.dirs"], broker.Options{Config: config, Logger: o.logger, Trace: o.logs})
	if err != nil {
		return err
	}
	defer func() {
		o.closing()
		o.logger.Info("closing")
		err = errors.Join(err, b.Close())
	}()
	address, err := kafka.ListenAddress(b)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("%w; --listen chooses another address", err)
	}
	o.serving(b)
	defer context.AfterFunc(cmd.Context(), o.closing)()
	return f.serve(cmd.Context(), cmd.OutOrStdout(), l, b, o)
}

func (f *serveFlags) serve(ctx context.Context, out io.Writer, l net.Listener, b *broker.Broker, o *observed) error {
	o.logger.Info("serving", "topics", len(b.Topics()), "dir", b.Dir(), "address", l.Addr())
	fmt.Fprintf(out, "serving %d topics of %s on %s\n", len(b.Topics()), b.Dir(), l.Addr())
	return kafka.ServeTraced(ctx, l, b, o.requests)
}

// settings are those of the file, those of --set upon them, and the flags that
// stand for one.
func (f *serveFlags) settings() (map[string]string, error) {
	config := make(map[string]string)
	if f.config != "" {
		text, err := os.ReadFile(f.config)
		if err != nil {
			return nil, err
		}
		if config, err = kafkadir.Properties(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.config, err)
		}
	}
	for _, s := range f.set {
		key, value, ok := strings.Cut(s, "=")
		if !ok || strings.TrimSpace(key) == "" {
			return nil, usagef("--set %q: want key=value", s)
		}
		config[strings.TrimSpace(key)] = value
	}
	if config["log.dirs"] == "" && config["log.dir"] != "" {
		config["log.dirs"] = config["log.dir"]
	}
	delete(config, "log.dir")
	if f.data != "" {
		config["log.dirs"] = f.data
	}
	switch dir := config["log.dirs"]; {
	case dir == "":
		return nil, usagef("no directory: give one with --data")
	case f.data == "" && strings.Contains(dir, ","):
		return nil, usagef("log.dirs %q: a broker has one directory", dir)
	}
	if f.listen != "" {
		if _, _, err := net.SplitHostPort(f.listen); err != nil {
			return nil, usagef("--listen: %v", err)
		}
		config["listeners"] = "PLAINTEXT://" + f.listen
	}
	return config, nil
}
