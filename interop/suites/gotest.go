package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// module copies a module from the proxy to where it can be tested.
func module(ctx context.Context, path, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", path)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go mod download %s: %w", path, err)
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(out, &got); err != nil {
		return err
	}
	if err := os.CopyFS(dir, os.DirFS(got.Dir)); err != nil {
		return err
	}
	return command(ctx, dir, nil, "chmod", "-R", "u+w", ".")
}

// goTest runs the tests of packages in dir and tells how each ended.
func goTest(ctx context.Context, dir string, env []string, only *regexp.Regexp, tell func(string, result), args ...string) error {
	all := append([]string{"test", "-mod=mod", "-count=1", "-timeout=20m", "-json"}, args...)
	if only != nil {
		all = append(all, "-run="+only.String())
	}
	cmd := exec.CommandContext(ctx, "go", append(all, "./...")...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	said := make(map[string]*strings.Builder)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct{ Action, Package, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		name := filepath.Base(e.Package) + "/" + e.Test
		switch r := result(e.Action); {
		case e.Action == "output":
			if said[name] == nil {
				said[name] = new(strings.Builder)
			}
			said[name].WriteString(e.Output)
		case e.Test == "" && r == fail && strings.Contains(said[name].String(), "panic: "):
			// The tests that were to follow are not told of.
			fmt.Printf("%s\n", said[name])
			tell(name+"panicked", fail)
		case e.Test != "" && (r == pass || r == fail || r == skip):
			tell(name, r)
			if r == fail {
				fmt.Printf("%.4000s", said[name])
			}
			delete(said, name)
		}
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		err = nil // what failed was told
	}
	return errors.Join(err, lines.Err())
}
