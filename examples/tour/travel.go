package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// traveller runs one step after the other and stops at the first error.
type traveller struct {
	ctx  context.Context
	dir  string // where commands run
	last []byte // what the last one printed
	err  error
}

func (t *traveller) say(what string) {
	if t.err == nil {
		fmt.Printf("\n# %s\n", strings.ReplaceAll(what, "\n", "\n# "))
	}
}

// run shows a command line, runs it by the shell and shows what it prints.
func (t *traveller) run(line string) {
	if t.err != nil {
		return
	}
	fmt.Println("$", line)
	t.command(t.dir, "sh", "-c", line)
}

func (t *traveller) command(dir, name string, args ...string) {
	var out bytes.Buffer
	cmd := exec.CommandContext(t.ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, io.MultiWriter(os.Stdout, &out), os.Stderr
	cmd.WaitDelay = time.Second
	t.err = cmd.Run()
	t.last = out.Bytes()
}

// expect holds what the last command printed to what is promised.
func (t *traveller) expect(part string) {
	if t.err == nil && !bytes.Contains(t.last, []byte(part)) {
		t.err = fmt.Errorf("there should have been %s", part)
	}
}

func (t *traveller) build() {
	bin := filepath.Join(t.dir, "seglog")
	fmt.Println("$ go build -o", bin, command)
	t.command("", "go", "build", "-buildvcs=false", "-o", bin, command)
}

// input is a file of lines.
type input struct {
	path  string
	count int64
	half  int64 // bytes of about half of it
}

// gather writes lines of Go's own source to a file.
func (t *traveller) gather(path string) (in input) {
	if t.err != nil {
		return in
	}
	in.path = path
	root, err := exec.CommandContext(t.ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		t.err = err
		return in
	}
	f, err := os.Create(path)
	if err != nil {
		t.err = err
		return in
	}
	w, size := bufio.NewWriter(f), int64(0)
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		for line := range bytes.Lines(text) {
			if in.count == lines {
				return fs.SkipAll
			}
			in.count++
			size += int64(len(line))
			_, _ = w.Write(bytes.TrimSuffix(line, []byte("\n"))) // Flush tells
			_ = w.WriteByte('\n')
		}
		return err
	})
	in.half = size / 2
	t.err = errors.Join(err, w.Flush(), f.Close())
	fmt.Printf("%d lines, %d MB, in lines.txt\n", in.count, size/1_000_000)
	return in
}

// appendAndKill gives the appender half of the input, kills it when a third is
// acknowledged, and returns the last offset it acknowledged.
func (t *traveller) appendAndKill(in input) (acked int64) {
	if t.err != nil {
		return 0
	}
	fmt.Println("$", appending, "--ack <lines.txt")
	f, err := os.Open(in.path)
	if err != nil {
		t.err = err
		return 0
	}
	defer f.Close()
	args := strings.Fields(appending + " --ack")
	cmd := exec.CommandContext(t.ctx, args[0], args[1:]...)
	killed := make(chan struct{})
	cmd.Dir, cmd.Stdin, cmd.Stderr = t.dir, io.MultiReader(io.LimitReader(f, in.half), endless{killed}), os.Stderr
	cmd.WaitDelay = time.Second
	acks, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.err = err
		return 0
	}
	acked = -1
	for s, alive := bufio.NewScanner(acks), true; s.Scan(); {
		if n, err := strconv.ParseInt(s.Text(), 10, 64); err == nil {
			acked = n
		}
		if alive && acked > in.count/3 {
			alive = false
			fmt.Printf("...\n%d\n$ kill -9 %d\n", acked, cmd.Process.Pid)
			t.err = cmd.Process.Kill()
			close(killed)
		}
	}
	if err := cmd.Wait(); err == nil || t.ctx.Err() != nil {
		t.err = errors.Join(t.err, t.ctx.Err(), fmt.Errorf("the appender ended before it was killed: %v", err))
	}
	fmt.Printf("The last offset it acknowledged is %d.\n", acked)
	return acked
}

// endless is input that does not come: the appender waits for it.
type endless struct{ killed chan struct{} }

func (e endless) Read([]byte) (int, error) {
	<-e.killed
	return 0, io.EOF
}

// compare holds what was read back against the input: it has to be its first
// lines, all that were acknowledged at least.
func (t *traveller) compare(name string, in input, acked int64) (survived int64) {
	if t.err != nil {
		return 0
	}
	got, err := os.ReadFile(filepath.Join(t.dir, name))
	if err != nil {
		t.err = err
		return 0
	}
	want, err := os.ReadFile(in.path)
	survived = int64(bytes.Count(got, []byte("\n")))
	switch {
	case err != nil:
		t.err = err
	case !bytes.HasPrefix(want, got):
		t.err = errors.New("what was read back is not what was appended")
	case survived <= acked:
		t.err = fmt.Errorf("%d lines were acknowledged and %d survived", acked+1, survived)
	}
	fmt.Printf("Acknowledged: %d lines. Survived: %d, byte for byte the first ones of the input.\n", acked+1, survived)
	return survived
}
