// Command powercut takes the power away from a machine that appends to logs, over
// and over, and looks whether all is there that was acknowledged.
//
//	go run ./fuzz/powercut -fetch             # once: get a kernel
//	go run ./fuzz/powercut -cuts 300
//	go run ./fuzz/powercut -cuts 20 -break sync
//	go run ./fuzz/powercut -cuts 20 -fail writes
//
// A small Linux runs in qemu, in software, with two disks, one ext4 and one xfs. On
// each it opens a log, says what the log holds, and then appends, rolls, drops,
// truncates or compacts; each acknowledgement is a line on its serial port. At a
// random moment qemu is killed: the page cache is gone. The disks' own write
// cache, which this process keeps for them, is gone too: of what was not flushed
// any part may have reached the disk, down to single sectors, which have 512 bytes
// under ext4 and 4 KiB under xfs. The next boot must
// find every acknowledged record, in order, once, and nothing that nobody wrote.
//
// With -fail a disk answers with errors in every second boot, before its power is
// taken away: for some writes, or for reads of a page with records. What fails may
// end the store, with an error; nothing acknowledged may be missing at the next boot.
//
// With -break the store, or the disk, does something wrong, and the command fails
// if that is not noticed: see work.Breaking; "flush" is a
// disk that ignores flushes, "again" wants -fail writes.
//
// It needs qemu-system-x86_64, mkfs.ext4 and mkfs.xfs (Debian: qemu-system-x86,
// e2fsprogs, xfsprogs) and Debian's linux-image-cloud-amd64, which need not be
// installed, and no privileges.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seglog/seglog/fuzz/work"
)

func main() {
	var c command
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "seglog-powercut")
	flag.IntVar(&c.cuts, "cuts", 10, "how often to cut")
	flag.IntVar(&c.age, "age", 12, "how many cuts a disk goes through before there are new ones")
	flag.IntVar(&c.jobs, "jobs", 1, "how many machines run at a time")
	flag.StringVar(&c.broken, "break", "", "what is to be wrong: sync, log, names, temp, again or flush")
	flag.StringVar(&c.fail, "fail", "", "what of the disks is to fail in some boots: reads or writes")
	flag.StringVar(&c.workloads, "workloads", strings.Join(work.Names(), ","), "what to do to the logs")
	flag.Uint64Var(&c.seed, "seed", rand.Uint64(), "of the choices that are not the clock's")
	flag.BoolVar(&c.verbose, "v", false, "tell of each cut")
	root := flag.String("kernel", "", "directory where linux-image-cloud-amd64 was unpacked")
	fetch := flag.Bool("fetch", false, "get a kernel with apt-get, into "+cache+", and end")
	flag.Parse()
	if *fetch {
		if _, missing := findKernel(cache); missing != nil {
			err = fetchKernel(cache)
		}
	} else {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = c.run(ctx, *root, cache, "/")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "powercut:", err)
		os.Exit(1)
	}
}

type command struct {
	cuts, age, jobs   int
	broken, workloads string
	fail              string
	seed              uint64
	verbose           bool

	mu      sync.Mutex
	left    int
	next    int // of the series
	summary summary
	failed  error
}

func (c *command) run(ctx context.Context, roots ...string) error {
	if !slices.Contains([]string{"", "reads", "writes"}, c.fail) {
		return fmt.Errorf("-fail is %q, want reads or writes", c.fail)
	}
	plan, cleanup, err := prepare(roots)
	if err != nil {
		return err
	}
	defer cleanup()
	c.left, c.summary = c.cuts, summary{began: time.Now()}
	fmt.Printf("seed %d\n", c.seed)
	var wg sync.WaitGroup
	for range c.jobs {
		wg.Go(func() { c.work(ctx, plan) })
	}
	wg.Wait()
	fmt.Print(&c.summary)
	var noticed *promise
	switch {
	case c.broken == "" || c.failed != nil && !errors.As(c.failed, &noticed):
		return c.failed
	case c.failed == nil:
		return fmt.Errorf("-break %s was not noticed in %d cuts", c.broken, c.cuts)
	}
	fmt.Printf("-break %s was noticed, as it should be: %v\n", c.broken, c.failed)
	return nil
}

// prepare finds what is needed and builds what every machine boots.
func prepare(roots []string) (plan *blueprint, cleanup func(), err error) {
	if roots[0] == "" {
		roots = roots[1:]
	}
	qemu, err := exec.LookPath("qemu-system-x86_64")
	if err != nil {
		return nil, nil, fmt.Errorf("%w (Debian: qemu-system-x86)", err)
	}
	for _, fs := range fileSystems {
		if _, err := findTool("mkfs." + fs); err != nil {
			return nil, nil, fmt.Errorf("%w (Debian: e2fsprogs, xfsprogs)", err)
		}
	}
	k, err := findKernel(roots...)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "powercut-boot")
	if err != nil {
		return nil, nil, err
	}
	cleanup = func() { _ = os.RemoveAll(dir) }
	plan = &blueprint{qemu: qemu, kernel: k.image, initramfs: filepath.Join(dir, "initramfs")}
	if err := build(k, dir, plan.initramfs); err != nil {
		cleanup()
		return nil, nil, err
	}
	return plan, cleanup, nil
}

func build(k kernel, dir, name string) error {
	guest := filepath.Join(dir, "guest")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", guest, "github.com/seglog/seglog/fuzz/powercut/guest")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	modules, err := k.withModules(append([]string{"virtio_pci", "virtio_blk"}, fileSystems...)...)
	if err != nil {
		return err
	}
	archive, err := initramfs(guest, modules)
	if err != nil {
		return err
	}
	return os.WriteFile(name, archive, 0o644)
}

// take is one cut less to do; false where there are none, or one failed.
func (c *command) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 || c.failed != nil {
		return false
	}
	c.left--
	return true
}

// work does series until there is nothing left to cut.
func (c *command) work(ctx context.Context, plan *blueprint) {
	workloads := strings.Split(c.workloads, ",")
	for more := c.take(); more; {
		c.mu.Lock()
		number := c.next
		c.next++
		c.mu.Unlock()
		// Neighbours in the list, so that each meets each file system in turn.
		var mine []string
		for i := range fileSystems {
			mine = append(mine, workloads[(number+i*(1+number/len(workloads)))%len(workloads)])
		}
		s, err := newSeries(plan, c.seed+uint64(number), mine, c.broken, c.fail, c.logf)
		for err == nil && more && s.age < c.age {
			c.logf("series %d, cut %d: %s on %s, %s on %s", number, s.age, mine[0], fileSystems[0], mine[1], fileSystems[1])
			err = s.cut(ctx)
			more = err == nil && c.take()
		}
		c.done(s, err)
		if err != nil {
			return
		}
	}
}

func (c *command) logf(format string, args ...any) {
	if c.verbose {
		fmt.Printf(format+"\n", args...)
	}
}

func (c *command) done(s *series, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s != nil {
		c.summary.add(s)
	}
	if err == nil {
		c.failed = errors.Join(c.failed, s.remove())
		return
	}
	if s != nil && (c.broken != "" || errors.Is(err, context.Canceled)) {
		_ = s.remove()
	} else if s != nil {
		err = fmt.Errorf("%w\nseed %d; the disks as they are now, what the machine said and its console are in %s", err, s.seed, s.dir)
	}
	c.failed = errors.Join(c.failed, err)
}
