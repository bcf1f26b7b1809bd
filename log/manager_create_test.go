package log_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// TestCreateBesideCreate: while a partition is being made its name is taken, others
// are made, and the Manager does not close.
func TestCreateBesideCreate(t *testing.T) {
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	faulty.Trace = func(c vfs.Call) {
		if strings.HasSuffix(c.Name, "slow-0") && c.Op == vfs.OpMkdir {
			once.Do(func() { close(reached) })
			<-goOn
		}
	}
	m := manage(t, "data", onMem(faulty))
	var made *log.Log
	var failed error
	slow := make(chan struct{})
	go func() {
		defer close(slow)
		made, failed = m.Create(ctx, "slow-0", log.TopicID{1})
	}()
	<-reached
	_, err := m.Create(ctx, "slow-0", log.TopicID{2})
	require.ErrorIs(t, err, log.ErrExists)
	create(t, m, "fast-0", 3)
	require.Equal(t, []string{"fast 0 live"}, partitions(m))
	closed := make(chan error, 1)
	go func() { closed <- m.Close() }()
	select {
	case <-closed:
		t.Error("closed with a partition half made")
	case <-time.After(10 * time.Millisecond):
	}
	close(goOn)
	<-slow
	require.NoError(t, <-closed)
	require.NoError(t, failed)
	require.ErrorIs(t, made.Err(), log.ErrClosed)
	m = manage(t, "data", onMem(mem))
	require.True(t, m.Found().Clean)
	require.Equal(t, []string{"fast 0 live", "slow 0 live"}, partitions(m))
}

// TestCreateSharesSyncs: partitions that are made at the same time share syncs of
// the directory that their names are in: those who come while one is under way, the
// next.
func TestCreateSharesSyncs(t *testing.T) {
	const n = 16
	faulty := vfs.NewFaulty(vfs.NewMem())
	m := manage(t, "data", onMem(faulty))
	var syncs atomic.Int32
	var opened sync.WaitGroup // those whose directory is there
	opened.Add(n)
	faulty.Trace = func(c vfs.Call) {
		switch {
		case c.Op == vfs.OpLock && filepath.Base(filepath.Dir(c.Name)) != "data":
			opened.Done()
		case c.Op == vfs.OpSyncDir && filepath.Base(c.Name) == "data" && syncs.Add(1) == 1:
			opened.Wait()
			time.Sleep(10 * time.Millisecond) // they come here now
		}
	}
	var creating sync.WaitGroup
	for i := range n {
		creating.Go(func() {
			if _, err := m.Create(ctx, fmt.Sprintf("t-%d", i), log.TopicID{1}); err != nil {
				t.Error(err)
			}
		})
	}
	creating.Wait()
	require.Less(t, int(syncs.Load()), n)
	require.Len(t, m.Partitions(), n)
}

// TestCreateInADirectoryThatWasNotDurable: whoever made the Manager's directory was
// killed before its name was durable; what is made durable in it stays all the same.
func TestCreateInADirectoryThatWasNotDurable(t *testing.T) {
	mem := vfs.NewMem()
	require.NoError(t, mem.Mkdir("data", 0o755))
	mem = mem.Kill()
	m := manage(t, "data", onMem(mem))
	l, err := m.Create(ctx, "a-0", log.TopicID{1})
	require.NoError(t, err)
	_, err = l.AppendSync(ctx, rec(value(0)))
	require.NoError(t, err)
	for seed := range uint64(20) {
		after := manage(t, "data", onMem(mem.Fork().Crash(seed)))
		wantValues(t, logOf(t, after, "a-0"))
		require.EqualValues(t, 1, logOf(t, after, "a-0").End())
	}
}
