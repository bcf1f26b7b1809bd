package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seglog/seglog/internal/serve"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	pattern := flag.String("only", "", "run only tests whose names match `RE`, of librdkafka the numbers in this list")
	flag.Parse()
	s, ok := suites[flag.Arg(0)]
	if !ok || flag.NArg() != 1 {
		return fmt.Errorf("want one of %q", slices.Sorted(maps.Keys(suites)))
	}
	var only *regexp.Regexp
	if *pattern != "" {
		var err error
		if only, err = regexp.Compile(strings.ReplaceAll(*pattern, ",", "|")); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "seglog-suites-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(os.TempDir(), "seglog-suites-"+flag.Arg(0)+".log")
	return serving(ctx, dir, log, s, func(addr string) error {
		t := &tally{suite: s, tests: make(map[string]result)}
		began := time.Now()
		if err := s.run(ctx, addr, only, t.note); err != nil {
			return err
		}
		unexpected := t.report()
		fmt.Printf("in %s\n", time.Since(began).Round(time.Second))
		switch {
		case unexpected > 0:
			return fmt.Errorf("%d failed", unexpected)
		case len(t.tests) == 0:
			return errors.New("no test was run")
		}
		return nil
	})
}

// serving calls do with the address of a broker, which has to end well.
func serving(ctx context.Context, dir, log string, s suite, do func(addr string) error) error {
	program, err := serve.Build(ctx, filepath.Join("..", ".."), dir)
	if err != nil {
		return err
	}
	n := &serve.Node{Program: program, Data: filepath.Join(dir, "data"), Listen: s.listen, Settings: s.settings, Log: log}
	if err := n.Start(ctx); err != nil {
		return err
	}
	return errors.Join(do(n.Addr()), n.Stop())
}

// command runs a command and says what it said if it fails.
func command(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%.3000s", strings.Join(args, " "), err, out[max(0, len(out)-3000):])
	}
	return nil
}
