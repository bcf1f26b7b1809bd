package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/seglog/seglog/internal/apache"
)

// cache is where what clients need is kept from one run to the next.
func cache(parts ...string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(append([]string{dir, "seglog-clients"}, parts...)...)
	return dir, os.MkdirAll(dir, 0o755)
}

// drivers is where the programs are.
func drivers(parts ...string) (string, error) {
	return filepath.Abs(filepath.Join(append([]string{"drivers"}, parts...)...))
}

// missing is an error unless there are all programs.
func missing(programs ...string) error {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return fmt.Errorf("no %s here", p)
		}
	}
	return nil
}

// done runs a command of an installation.
func done(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(args[0]), err, tail(string(out)))
	}
	return nil
}

// once does what makes dir unless it was done to its end before.
func once(dir string, do func() error) error {
	mark := filepath.Join(dir, "complete")
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	return os.WriteFile(mark, nil, 0o644)
}

// python is a client of packages, in an environment of its own.
func python(name, driver string, packages ...string) *program {
	return &program{install: func(ctx context.Context) ([]string, error) {
		if err := missing("python3"); err != nil {
			return nil, err
		}
		dir, err := cache("python", name)
		if err != nil {
			return nil, err
		}
		interpreter := filepath.Join(dir, "bin", "python")
		err = once(dir, func() error {
			if err := done(ctx, "", nil, "python3", "-m", "venv", dir); err != nil {
				return err
			}
			return done(ctx, "", nil, append([]string{interpreter, "-m", "pip", "install", "-q"}, packages...)...)
		})
		if err != nil {
			return nil, err
		}
		script, err := drivers("python", driver)
		return []string{interpreter, "-B", script}, err
	}}
}

// node is a client of npm packages, which lie beside a copy of its driver, as that
// is where they are looked for.
func node(name, driver string, env []string, packages ...string) *program {
	return &program{install: func(ctx context.Context) ([]string, error) {
		if err := missing("node", "npm"); err != nil {
			return nil, err
		}
		dir, err := cache("node", name)
		if err != nil {
			return nil, err
		}
		err = once(dir, func() error {
			if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte("{}\n"), 0o644); err != nil {
				return err
			}
			return done(ctx, dir, env, append([]string{"npm", "install", "--no-audit", "--no-fund"}, packages...)...)
		})
		if err != nil {
			return nil, err
		}
		source, err := drivers("node")
		if err != nil {
			return nil, err
		}
		for _, file := range []string{"contract.mjs", driver} {
			text, err := os.ReadFile(filepath.Join(source, file))
			if err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(dir, file), text, 0o644); err != nil {
				return nil, err
			}
		}
		return []string{"node", filepath.Join(dir, driver)}, nil
	}}
}

// rust is rdkafka, whose librdkafka is compiled.
func rust() *program {
	return &program{install: func(ctx context.Context) ([]string, error) {
		if err := missing("cargo", "cmake"); err != nil {
			return nil, err
		}
		dir, err := cache("rust")
		if err != nil {
			return nil, err
		}
		source, err := drivers("rust")
		if err != nil {
			return nil, err
		}
		return []string{filepath.Join(dir, "release", "driver")},
			done(ctx, source, []string{"CARGO_TARGET_DIR=" + dir}, "cargo", "build", "--release", "--locked")
	}}
}

// apacheKafka is what Kafka's own clients are run with.
var apacheKafka = sync.OnceValues(func() (apache.Kafka, error) { return apache.Install(context.Background()) })
