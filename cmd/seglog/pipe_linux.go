package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// pipeBytes is what Linux lets anybody ask for, and sixteen times the default.
const pipeBytes = 1 << 20

// widenPipe makes room for more in the pipe that w is, if it is one: fewer
// switches between who writes and who reads. It need not succeed.
func widenPipe(w io.Writer) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	if conn, err := f.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeBytes) })
	}
}
