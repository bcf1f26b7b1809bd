package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seglog/seglog/fuzz/powercut/disk"
	"github.com/seglog/seglog/fuzz/said"
	"github.com/seglog/seglog/fuzz/work"
)

// fileSystems are those that disks get, one machine having one disk of each.
var fileSystems = []string{"ext4", "xfs"}

// diskBytes is the size of an image. xfs wants 300 MiB at least.
const diskBytes = 320 << 20

// subject is one disk with one log and what the log has to hold.
type subject struct {
	fs, workload string
	image        string
	h            *said.History
	ready        bool
	ended        bool // its disk failed, and it said so
}

// series is some disks that age: made once, cut over and over.
type series struct {
	plan     *blueprint
	dir      string
	r        *rand.Rand
	seed     uint64
	subjects []*subject
	broken   string // what the store, or the disk, is to do wrong
	fail     string // what of the disks is to fail: see failing.go
	age      int    // boots so far
	logf     func(format string, args ...any)
}

func newSeries(plan *blueprint, seed uint64, workloads []string, broken, fail string, logf func(string, ...any)) (*series, error) {
	dir, err := os.MkdirTemp("", "powercut")
	if err != nil {
		return nil, err
	}
	s := &series{plan: plan, dir: dir, seed: seed, r: rand.New(rand.NewPCG(seed, 0)), broken: broken, fail: fail, logf: logf}
	for i, fs := range fileSystems {
		w := workloads[i%len(workloads)]
		sub := &subject{fs: fs, workload: w, image: filepath.Join(dir, fmt.Sprintf("disk%d", i)), h: said.NewHistory(work.Keyed(w), false)}
		if err := makeImage(sub.image, fs); err != nil {
			return s, err
		}
		s.subjects = append(s.subjects, sub)
	}
	return s, nil
}

// unitOf is the size of the sectors of a file system's disk. ext4 bears it when a
// block of its own is torn. xfs does not: when the power goes while it recovers,
// a torn block of which the first sector was written looks newer than the log,
// and is left as it is (seen with Linux 6.1).
func unitOf(fs string) int64 {
	if fs == "xfs" {
		return 4096
	}
	return disk.SectorSize
}

func makeImage(name, fs string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := f.Truncate(diskBytes); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	args := map[string][]string{
		"ext4": {"mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", name},
		"xfs":  {"mkfs.xfs", "-q", "-f", "-s", fmt.Sprintf("size=%d", unitOf(fs)), name},
	}[fs]
	tool, err := findTool(args[0])
	if err != nil {
		return err
	}
	if out, err := exec.Command(tool, args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return nil
}

// findTool finds those that an ordinary user has not in his PATH, too.
func findTool(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if err == nil {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, name))
	}
	return path, err
}

// silence is how long a machine may say nothing.
const silence = 2 * time.Minute

// cut boots the machine, hears what it found and what it does, and takes its
// power away at some moment.
func (s *series) cut(ctx context.Context) (err error) {
	disks := make([]*disk.Disk, len(s.subjects))
	specs := make([]string, len(s.subjects))
	for i, sub := range s.subjects {
		if disks[i], err = disk.Open(sub.image); err != nil {
			return err
		}
		defer disks[i].Close()
		disks[i].IgnoreFlush = s.broken == "flush"
		disks[i].Unit = unitOf(sub.fs)
		specs[i] = fmt.Sprintf("%s:%s:%d", sub.fs, sub.workload, sub.h.Known())
		sub.ready, sub.ended = false, false
		sub.h.Booted()
	}
	f := s.newFailing(disks)
	arguments := fmt.Sprintf("guest.disks=%s guest.boot=%d guest.seed=%d", strings.Join(specs, ","), s.age, s.r.Uint64())
	if s.broken != "" && s.broken != "flush" {
		arguments += " guest.break=" + s.broken
	}
	m, err := s.plan.boot(ctx, s.dir, disks, arguments)
	if err != nil {
		return err
	}
	if err = s.listen(m, f); ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	m.kill()
	for range m.lines { // what was said after an error
	}
	if offErr := m.off(); err == nil {
		err = offErr
	}
	for i, d := range disks {
		s.logf("    %s: %+v; %s", s.subjects[i].fs, d.Stats(), d.Cut(s.r))
	}
	s.age++
	return err
}

// listen hears the machine out, and kills it on the way, behind what fails.
func (s *series) listen(m *machine, f *failing) error {
	transcript, err := os.OpenFile(filepath.Join(s.dir, "said"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer transcript.Close()
	fmt.Fprintf(transcript, "boot %d\n", s.age)
	at := s.choose()
	var moment <-chan time.Time
	killed := false
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	for {
		select {
		case line, ok := <-m.lines:
			if !ok {
				if !killed {
					return fmt.Errorf("the machine stopped by itself; its console:\n%s", s.console())
				}
				return nil
			}
			quiet.Reset(silence)
			fmt.Fprintln(transcript, line)
			all, err := s.hear(line, f)
			if err != nil {
				return err
			}
			if moment == nil && at.due(all) || all && s.ended() {
				moment = time.After(at.wait)
			}
		case <-moment:
			if f.begin() {
				moment = time.After(patience)
				continue
			}
			m.kill()
			killed = true
		case <-quiet.C:
			return fmt.Errorf("the machine has said nothing for %v; its console:\n%s", silence, s.console())
		}
	}
}

// moment is when the power is cut: after some lines, and then a while.
type moment struct {
	early bool // lines are counted from the first on, not from when all is ready
	lines int
	wait  time.Duration
}

// choose draws a moment: while it mounts and recovers, after some time, or after
// some lines, which is at work whatever the machine's speed.
func (s *series) choose() moment {
	upTo := func(d time.Duration) time.Duration { return time.Duration(s.r.Int64N(int64(d))) }
	switch s.r.IntN(8) {
	case 0:
		return moment{early: true, wait: upTo(time.Second)}
	case 1, 2:
		return moment{wait: upTo(2500 * time.Millisecond)}
	}
	return moment{lines: int(math.Exp(s.r.Float64() * math.Log(300))), wait: upTo(20 * time.Millisecond)}
}

// due counts a line.
func (m *moment) due(ready bool) bool {
	if !ready && !m.early {
		return false
	}
	m.lines--
	return m.lines < 0
}

// hear takes in a line of one of the disks; all says that each is ready, or over.
func (s *series) hear(line string, f *failing) (all bool, err error) {
	number, rest, _ := strings.Cut(line, " ")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(s.subjects) {
		return false, fmt.Errorf("the line %q is about no disk", line)
	}
	sub := s.subjects[i]
	if f.excuses(rest) {
		sub.ended = true
		sub.h.Counts.Notes["an error of the disk, told"]++
	} else if err := sub.h.Hear(s.age, rest); err != nil {
		return false, &promise{fmt.Errorf("%s on %s, boot %d: %w", sub.workload, sub.fs, s.age, err)}
	}
	sub.ready = sub.ready || rest == "ready"
	all = true
	for _, sub := range s.subjects {
		all = all && (sub.ready || sub.ended)
	}
	return all, nil
}

// promise is the error that the store did not keep one.
type promise struct{ error }

func (p *promise) Unwrap() error { return p.error }

// console is the end of what the kernel said.
func (s *series) console() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "console"))
	return string(text[max(0, len(text)-4000):])
}

func (s *series) remove() error { return os.RemoveAll(s.dir) }
