package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seglog/seglog/bench/peers"
)

// The sides beside the peers.
const (
	ours  = "seglog"
	limit = "limit"
)

// A runner runs benchmarks in processes of their own.
type runner struct {
	dir       string // for data
	quick     bool
	journaled string // a directory, "" none
	mounted   string // what close unmounts
	failed    int    // processes of ours and of the limit
	results   io.Writer
}

// build compiles the three packages' benchmarks.
func (r *runner) build(ctx context.Context) error {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/seglog/seglog").Output()
	if err != nil {
		return fmt.Errorf("run it in bench/peers: %w", err)
	}
	for name, at := range map[string][2]string{
		ours:    {strings.TrimSpace(string(root)), "./bench"},
		limit:   {strings.TrimSpace(string(root)), "./bench/limit"},
		"peers": {".", "."},
	} {
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", r.binary(name), at[1])
		cmd.Dir = at[0]
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd, err, out)
		}
	}
	return nil
}

func (r *runner) binary(name string) string {
	path, err := filepath.Abs(filepath.Join(r.dir, name+".test"))
	if err != nil {
		return filepath.Join(r.dir, name+".test")
	}
	return path
}

// rounds runs the groups of the chosen workloads, in each round all sides in turn.
func (r *runner) rounds(ctx context.Context, chosen []workload, rounds int, to figures) error {
	began := time.Now()
	for _, g := range groups {
		if !slices.ContainsFunc(chosen, g.of) {
			continue
		}
		for round := range rounds {
			if round > 0 && g.once {
				break
			}
			for _, side := range sides(g) {
				if err := r.one(ctx, g, side, round, to); err != nil {
					return err
				}
			}
			fmt.Fprintf(os.Stderr, "%6.0fs  %s, round %d of %d\n", time.Since(began).Seconds(), strings.Join(g.benchmarks, ", "), round+1, rounds)
		}
	}
	return nil
}

// sides are who does the group's workloads: seglog, the limit, the peers.
func sides(g group) []string {
	all := []string{ours, limit}
	if strings.HasPrefix(g.benchmarks[0], "Queue") {
		for _, e := range peers.QueueEngines {
			all = append(all, e.Name)
		}
		return all
	}
	for _, e := range peers.Engines {
		all = append(all, e.Name)
	}
	return all
}

// one lets one side do a group's workloads. A benchmark that fails is noted; the
// others have run.
func (r *runner) one(ctx context.Context, g group, side string, round int, to figures) error {
	bench := "^Benchmark(" + strings.Join(g.benchmarks, "|") + ")$"
	binary := side
	if side != ours && side != limit {
		bench, binary = bench+"/^peer="+side+"$", "peers"
	}
	benchtime := g.benchtime
	if r.quick {
		benchtime = "1x"
	}
	data, err := os.MkdirTemp(r.dir, "data")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(data) }()
	if g.touch && !r.quick {
		if err := touch(filepath.Join(data, "touched"), 512<<20); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	args := []string{"-test.run", "^$", "-test.bench", bench, "-test.benchtime", benchtime, "-test.timeout", "5m"}
	if r.quick {
		args = append(args, "-test.short")
	}
	cmd := exec.CommandContext(ctx, r.binary(binary), args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+data, "SEGLOG_BENCH_JOURNALED="+r.journaled)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	if _, err := r.results.Write(out.Bytes()); err != nil {
		return err
	}
	printed := strings.NewReplacer(data, "DIR").Replace(out.String()) // where it was this time is nobody's business
	failed, parseErr := to.add(side, round, io.TeeReader(strings.NewReader(printed), &errs))
	if parseErr != nil {
		return parseErr
	}
	if err != nil {
		to.fail(g, side, round, failed)
		if side != ours && side != limit {
			// A peer that cannot is a row of the table, not a fault of this tree: some do
			// not open what their killed process left, if it was killed at a bad moment.
			fmt.Fprintf(os.Stderr, "%s: %v: %v\n", side, err, failed)
			return nil
		}
		r.failed++
		fmt.Fprintf(os.Stderr, "FAILED: %s: %v\n%s", side, err, errs.String())
	}
	return nil
}

// touch writes and removes so many bytes: the pages are at hand then, whatever
// the machine did before, and what is measured is not how it gets them.
func touch(path string, bytes int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	piece := make([]byte, 1<<20)
	for range bytes / len(piece) {
		if _, err = f.Write(piece); err != nil {
			break
		}
	}
	return errors.Join(err, f.Close(), os.Remove(path))
}

// journal makes an ext4 with a journal in a file and mounts it.
func (r *runner) journal(ctx context.Context) error {
	image, at := filepath.Join(r.dir, "journaled.img"), filepath.Join(r.dir, "journaled")
	if err := os.Mkdir(at, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(image, 1<<30); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"mkfs.ext4", "-q", "-O", "has_journal", "-E", "lazy_itable_init=0,lazy_journal_init=0", image},
		{"mount", "-o", "loop", image, at},
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
		}
	}
	r.journaled, r.mounted = at, at
	return nil
}

func (r *runner) close() error {
	if r.mounted == "" {
		return nil
	}
	if out, err := exec.Command("umount", r.mounted).CombinedOutput(); err != nil {
		return fmt.Errorf("umount %s: %w: %s", r.mounted, err, bytes.TrimSpace(out))
	}
	return nil
}
