package recovery_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// TestCrashRandom is many machines that append, sync, checkpoint, drop and lose
// power, over and over on the same files.
func TestCrashRandom(t *testing.T) {
	crashes := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := vfs.NewMem()
		var first, durable, end int64 // what the log must at least have
		for life := range 6 {
			l := mustOpen(t, options(m))
			require.GreaterOrEqual(t, l.End(), durable, "seed %d, life %d: %v", seed, life, l.Recovery().LogValue())
			require.LessOrEqual(t, l.End(), max(end, first))
			require.Equal(t, first, l.First())
			got, damage := readable(t, l)
			require.Empty(t, damage)
			require.Equal(t, span(first, l.End()), got, "seed %d, life %d", seed, life)
			for range r.IntN(25) {
				switch r.IntN(12) {
				case 0:
					require.NoError(t, l.Sync(t.Context()))
				case 1:
					require.NoError(t, l.Checkpoint(t.Context()))
				case 2:
					first = l.First() + r.Int64N(l.End()-l.First()+1)/3
					require.NoError(t, l.DropBefore(first))
				case 3:
					m.Writeback(r.Uint64())
				case 4:
					if r.IntN(3) == 0 {
						require.NoError(t, l.DropFrom(l.First()+r.Int64N(l.End()-l.First()+1)))
					}
				default:
					appendBatch(t, l, 1+r.IntN(4))
				}
			}
			durable, end = l.Durable(), l.End()
			switch r.IntN(4) {
			case 0:
				require.NoError(t, l.Close())
				durable = end
				m = m.Crash(r.Uint64())
			case 1:
				durable = end
				m = m.Kill()
			default:
				m = m.Crash(r.Uint64())
			}
			crashes++
		}
		l := mustOpen(t, options(m))
		end = l.End()
		require.NoError(t, l.Close())
		recovers(t, m, options(m), span(first, end))
	}
	t.Logf("%d crashes", crashes)
}

// TestPowerCutAfterKill: the process is killed anywhere in rolling or cutting,
// the log is opened again and appended to, and then, without a close, the power
// goes: what was acknowledged after the kill is there. What the killed process
// had not made durable, names above all, the next one has to.
func TestPowerCutAfterKill(t *testing.T) {
	for name, op := range map[string]func(l *log.Log){
		"roll": func(l *log.Log) {
			for range 6 {
				if _, err := l.Append(rec(l.End()), rec(l.End()+1)); err != nil {
					return
				}
			}
		},
		"drop": func(l *log.Log) { _ = l.DropFrom(9) },
	} {
		for n := 0; ; n++ {
			m := synced(t, 7)
			l := mustOpen(t, options(m)) // so that the calls counted are those of op
			appendBatch(t, l, 1)
			require.NoError(t, l.Sync(t.Context()))
			require.NoError(t, l.Close())
			m = m.Kill()
			f := vfs.NewFaulty(m)
			var after *vfs.Mem
			calls := 0
			l = mustOpen(t, options(f))
			f.Trace = func(c vfs.Call) {
				if c.Op&vfs.ChangeOp != 0 {
					if calls == n {
						after = m.Kill()
					}
					calls++
				}
			}
			op(l)
			if after == nil {
				break
			}
			for seed := range uint64(6) {
				m := after.Kill()
				l := mustOpen(t, options(m))
				at, err := l.AppendSync(t.Context(), rec(l.End()), rec(l.End()+1))
				require.NoError(t, err)
				m = m.Crash(seed)
				l = mustOpen(t, options(m))
				require.Equal(t, at+2, l.End(), "%s, killed at call %d, power cut %d: %v", name, n, seed, l.Recovery().LogValue())
				got, damage := readable(t, l)
				require.Empty(t, damage)
				require.Equal(t, span(0, at+2), got)
				require.NoError(t, l.Close())
			}
		}
	}
}
