package main

import (
	"bufio"
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
	return serving(ctx, dir, s, func(addr string) error {
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
func serving(ctx context.Context, dir string, s suite, do func(addr string) error) error {
	program := filepath.Join(dir, "seglog")
	if err := command(ctx, filepath.Join("..", ".."), nil, "go", "build", "-o", program, "./cmd/seglog"); err != nil {
		return err
	}
	args := []string{"serve", "--data", filepath.Join(dir, "data"), "--listen", s.listen}
	for _, set := range s.settings {
		args = append(args, "--set", set)
	}
	said, err := os.Create(filepath.Join(os.TempDir(), "seglog-suites.log"))
	if err != nil {
		return err
	}
	defer said.Close()
	cmd := exec.Command(program, args...)
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("seglog serve: %w, see %s", cmd.Wait(), said.Name())
	}
	fields := strings.Fields(line)
	err = do(fields[len(fields)-1])
	_ = cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if ended := cmd.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("seglog serve does not end well: %w, see %s", ended, said.Name()))
	}
	return err
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
