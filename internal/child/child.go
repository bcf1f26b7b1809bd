//go:build unix

package child

import (
	"io"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Process is a program that was started. All methods may be called concurrently.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed once it has
	err   error         // of it, set before
	leash io.Closer     // its end kills the process
	guard *exec.Cmd     // what holds the other end
}

// Start starts cmd in a process group of its own: a ^C at the terminal is for who
// started it, which tells it what to do. None of cmd's pipes may have been asked for:
// they are closed when it ends, whatever is still to be read.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	if err := p.hold(); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// hold has the process killed when this one ends.
func (p *Process) hold() (err error) {
	p.guard = exec.Command("sh", "-c", `read _; kill -9 "$0"`, strconv.Itoa(p.PID()))
	p.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.leash, err = p.guard.StdinPipe(); err != nil {
		return err
	}
	return p.guard.Start()
}

// PID is its number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed once it has.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Stop asks it to end by a SIGTERM, kills it if it has not within so long, and returns
// what exec.Cmd.Wait said of it.
func (p *Process) Stop(within time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(within):
	}
	p.Kill()
	return p.err
}

// Kill is kill -9, and waits until it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	if p.guard != nil && p.guard.Process != nil {
		_ = p.guard.Process.Kill() // before the leash ends: the number may be another process' by then
		_ = p.guard.Wait()
	}
}
