package kafka

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// childEnv names the directory that this program, started again, appends to
// until it is killed.
const childEnv = "SEGLOG_KAFKA_CHILD"

func childOptions() log.Options { return log.Options{SegmentBytes: 64 << 10} }

// childRecord is the record that the child appends at an offset.
func childRecord(offset int64) record.Record {
	return record.Record{Offset: offset, Time: time.UnixMilli(1_790_000_000_000 + offset),
		Value: fmt.Appendf(nil, "%d %s", offset, strings.Repeat("x", int(offset*13%400)))}
}

func child(dir string) {
	l, err := log.Open(context.Background(), dir, childOptions())
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		list := make([]record.Record, 1+i%11)
		for j := range list {
			list[j] = childRecord(l.End() + int64(j))
		}
		if _, err := l.Append(list...); err != nil {
			panic(err)
		}
		fmt.Println(l.End())
		time.Sleep(100 * time.Microsecond)
	}
}

// killed has another process append, and kills it. What that process was told
// is appended has to be there.
func killed(w *writer) {
	w.close()
	require.NoError(w.t, os.RemoveAll(w.dir))
	cmd := exec.CommandContext(w.t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+w.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, cmd.Start())
	acknowledged := int64(0)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Sscan(lines.Text(), &acknowledged)
		if acknowledged > 5000 {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	// As many as are there, without the lock and without writing.
	o := childOptions()
	o.Mode = log.ReadOnly
	l, err := log.Open(w.t.Context(), w.dir, o)
	require.NoError(w.t, err)
	end := l.End()
	require.NoError(w.t, l.Close())
	require.GreaterOrEqual(w.t, end, acknowledged, "acknowledged, and not there")
	w.all = nil
	for offset := range end {
		w.all = append(w.all, line(childRecord(offset)))
	}
	w.now = 1_790_000_000_000 + end
}
