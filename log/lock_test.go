package log_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// holderEnv names a directory that another process of this binary is to hold.
const holderEnv = "SEGLOG_LOCK_HOLDER"

func holdLock(dir string) {
	l, err := log.Open(ctx, dir, log.Options{})
	if err == nil {
		_, err = l.Append(rec(value(0)))
	}
	fmt.Println(err)
	select {} // until it is killed
}

// TestPitfallW2: a log has one writer, in this process and across processes.
func TestPitfallW2OneWriter(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, log.Options{})
	_, err := log.Open(ctx, dir, log.Options{})
	require.ErrorIs(t, err, log.ErrLocked)
	assert.ErrorContains(t, err, "this process")
	closeLog(t, l)

	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holderEnv+"="+dir)
	out, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "<nil>\n", line)
	for range 2 {
		_, err = log.Open(ctx, dir, log.Options{Mode: log.Repair})
		assert.ErrorIs(t, err, log.ErrLocked)
		assert.ErrorContains(t, err, strconv.Itoa(holder.Process.Pid))
	}
	wantValues(t, open(t, dir, log.Options{Mode: log.ReadOnly}))

	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	l = open(t, dir, log.Options{})
	assert.Equal(t, int64(1), l.End())
	wantValues(t, l)
}

// TestFailedOpenGivesTheLockBack at whatever call it failed.
func TestFailedOpenGivesTheLockBack(t *testing.T) {
	mem := vfs.NewMem()
	o := small()
	o.Env.FS = mem
	l := open(t, "log", o)
	fill(t, l, 12)
	mem = mem.Kill() // so that there is something to repair
	_ = l.Close()
	for nth := 0; ; nth++ {
		faulty := vfs.NewFaulty(mem)
		rule := faulty.Add(vfs.Rule{After: nth, Count: 1, Err: os.ErrPermission})
		o.Env.FS = faulty
		l, err := log.Open(ctx, "log", o)
		faulty.Clear()
		if err == nil {
			closeLog(t, l)
			if rule.Failed() == 0 {
				return
			}
			continue
		}
		require.NotErrorIs(t, err, log.ErrLocked, "call %d", nth)
	}
}
