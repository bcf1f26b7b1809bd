//go:build linux

// Command guest is the only process of a virtual machine whose power is going
// to be cut. For each of its disks it mounts the file system, opens the log
// there, says what it holds, and then appends and says what was acknowledged
// until the power is gone. Package powercut is the other side.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seglog/seglog/fuzz/work"
)

func main() {
	// An init that ends is a panic of the kernel; so is what went wrong here,
	// on the console.
	fmt.Println("guest:", run())
	for {
		time.Sleep(time.Hour)
	}
}

func run() error {
	for _, m := range []struct{ dir, kind string }{{"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev", "devtmpfs"}} {
		if err := mount(m.kind, m.dir, m.kind); err != nil {
			return err
		}
	}
	if err := loadModules("/modules"); err != nil {
		return err
	}
	line, err := openSerial()
	if err != nil {
		return err
	}
	args, err := arguments()
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(args["seed"], 10, 64)
	if err != nil {
		return err
	}
	boot, err := strconv.Atoi(args["boot"])
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for i, spec := range strings.Split(args["disks"], ",") {
		kind, rest, _ := strings.Cut(spec, ":")
		name, known, _ := strings.Cut(rest, ":")
		d := disk{line: line, number: i, kind: kind, broken: args["break"], work: work.Subject{Workload: name, Boot: boot}}
		if d.work.Known, err = strconv.ParseInt(known, 10, 64); err != nil {
			return err
		}
		wg.Go(func() { d.say(strings.ReplaceAll(fmt.Sprintf("! failed: %v", d.run(seed)), "\n", `\n`)) })
	}
	wg.Wait()
	return nil
}

func mount(what, dir, kind string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(what, dir, kind, 0, ""); err != nil {
		return &fs.PathError{Op: "mount", Path: what, Err: err}
	}
	return nil
}

// loadModules loads all modules of a directory in the order of their names.
func loadModules(dir string) error {
	names, err := filepath.Glob(dir + "/*.ko")
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil && err != unix.EEXIST {
			return &fs.PathError{Op: "load", Path: name, Err: err}
		}
		_ = f.Close()
	}
	return nil
}

// arguments are what the kernel's command line says behind "guest.".
func arguments() (map[string]string, error) {
	text, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return nil, err
	}
	args := make(map[string]string)
	for _, word := range strings.Fields(string(text)) {
		if rest, ok := strings.CutPrefix(word, "guest."); ok {
			key, value, _ := strings.Cut(rest, "=")
			args[key] = value
		}
	}
	return args, nil
}
