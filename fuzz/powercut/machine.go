package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seglog/seglog/fuzz/powercut/disk"
)

// blueprint is what all machines have in common.
type blueprint struct {
	qemu      string
	kernel    string
	initramfs string
}

// machine is a running qemu.
type machine struct {
	cmd   *exec.Cmd
	lines chan string // what it says, until its power is gone
	wg    sync.WaitGroup
	errs  []error // of serving its disks; after off
}

// boot starts a machine with those disks, which ctx ends. Its console goes to a
// file in dir.
func (p *blueprint) boot(ctx context.Context, dir string, disks []*disk.Disk, arguments string) (_ *machine, err error) {
	m := &machine{lines: make(chan string)}
	args := []string{
		"-accel", "tcg", "-machine", "q35", "-cpu", "max", "-m", "256", "-smp", "1",
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", p.kernel, "-initrd", p.initramfs,
		"-append", "console=ttyS0 quiet loglevel=4 panic=-1 tsc=reliable no_timer_check mitigations=off " + arguments,
		"-serial", "file:" + filepath.Join(dir, "console"),
		"-chardev", "stdio,id=said,signal=off", "-device", "pci-serial,chardev=said",
	}
	// No nvme: that of qemu 7.2 takes a write that is to go through the cache (FUA)
	// for any other.
	var served sync.Mutex
	for i, d := range disks {
		socket := filepath.Join(dir, fmt.Sprintf("disk%d.sock", i))
		_ = os.Remove(socket)
		listener, err := net.Listen("unix", socket)
		if err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				_ = listener.Close()
			}
		}()
		m.wg.Go(func() {
			conn, err := listener.Accept()
			_ = listener.Close()
			if err == nil {
				err = d.Serve(conn)
			}
			served.Lock()
			defer served.Unlock()
			m.errs = append(m.errs, err)
		})
		args = append(args,
			"-drive", fmt.Sprintf("if=none,id=disk%d,format=raw,cache=writeback,file.driver=nbd,file.server.type=unix,file.server.path=%s", i, socket),
			"-device", fmt.Sprintf("virtio-blk-pci,drive=disk%d,serial=disk%d,logical_block_size=%d,physical_block_size=%d", i, i, d.Unit, d.Unit))
	}
	m.cmd = exec.CommandContext(ctx, p.qemu, args...)
	m.cmd.Stderr = os.Stderr
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	m.wg.Go(func() {
		defer close(m.lines)
		for said := bufio.NewReader(out); ; {
			line, err := said.ReadString('\n')
			if err != nil {
				return // what follows the last newline was not said
			}
			m.lines <- strings.TrimSuffix(line, "\n")
		}
	})
	return m, nil
}

// kill takes the power away. The lines that were said come all the same.
func (m *machine) kill() { _ = m.cmd.Process.Kill() }

// off waits until nothing is left of a machine that was killed and whose lines
// have ended.
func (m *machine) off() error {
	_ = m.cmd.Wait()
	m.wg.Wait()
	return errors.Join(m.errs...)
}
