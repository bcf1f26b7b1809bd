package segment_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/invariants"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

func sealed(t *testing.T, cfg *segment.Config, n int) []*segment.Segment {
	t.Helper()
	var all []*segment.Segment
	for i := range n {
		base := int64(i) * 100
		s := create(t, cfg, base, run(base, 50, 2)...)
		require.NoError(t, s.Seal())
		all = append(all, s)
	}
	return all
}

func TestCacheBoundsMappings(t *testing.T) {
	cfg := config(world(t))
	cfg.Cache = segment.NewCache(3)
	all := sealed(t, cfg, 10)
	for range 3 {
		for _, s := range all {
			b, err := read(t, s, s.Base()+7)
			require.NoError(t, err)
			assert.Equal(t, s.Base()+6, b.BaseOffset)
			assert.LessOrEqual(t, cfg.Cache.Mapped(), 3)
		}
	}
}

func TestCacheEvictsTheLeastRecentlyUsed(t *testing.T) {
	fs := world(t)
	cfg := config(fs)
	all := sealed(t, cfg, 3)
	cfg.Cache = segment.NewCache(2) // in which nothing is mapped yet
	for i, s := range all {
		facts := s.Facts()
		require.NoError(t, s.Close())
		all[i] = segment.OpenSealed(cfg, facts)
	}
	use := func(i int) {
		t.Helper()
		_, err := read(t, all[i], all[i].Base())
		require.NoError(t, err)
	}
	use(1)
	use(0)
	use(2) // in place of 1, the older of the two
	require.NoError(t, fs.Remove(all[0].Path()))
	use(0) // still mapped, or its file would be missed
}

// Readers at full speed while segments are evicted and removed get bytes that
// are right or ErrGone.
func TestPinsUnderEvictionAndRemoval(t *testing.T) {
	cfg := config(world(t))
	cfg.Cache = segment.NewCache(2)
	all := sealed(t, cfg, 12)
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for r := range 4 {
		readers.Go(func() {
			for i := r; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				s := all[i%len(all)]
				p, err := s.Pin()
				if err != nil {
					assert.ErrorIs(t, err, segment.ErrGone)
					continue
				}
				pos, _, err := p.Find(s.Base() + 33)
				assert.NoError(t, err)
				var b record.Batch
				_, err = p.Read(&b, pos, s.Base(), nil)
				assert.NoError(t, err)
				assert.Equal(t, s.Base()+32, b.BaseOffset)
				p.Release()
			}
		})
	}
	for _, s := range all[:8] {
		for range 200 {
			_, _ = read(t, all[11], all[11].Base())
		}
		require.NoError(t, s.Remove())
	}
	close(stop)
	readers.Wait()
}

func TestViewOutlivesRemovalAndIsPoisoned(t *testing.T) {
	cfg := config(world(t))
	s := sealed(t, cfg, 1)[0]
	p, err := s.Pin()
	require.NoError(t, err)
	v, err := p.View(0, 0, 1<<20, math.MaxInt64)
	require.NoError(t, err)
	p.Release()
	want := append([]byte(nil), v.Bytes()...)
	require.NoError(t, s.Remove())
	assert.Equal(t, want, v.Bytes())
	n := 0
	for b := range v.Batches() {
		assert.EqualValues(t, 2*n, b.BaseOffset)
		n++
	}
	assert.Equal(t, 50, n)
	assert.EqualValues(t, 100, v.Next())
	kept := v.Bytes()
	v.Release()
	v.Release()
	if invariants.Enabled {
		for _, b := range kept {
			require.EqualValues(t, invariants.PoisonByte, b)
		}
	}
}

// maxBytes bounds a view to whole batches, of which there is at least one.
func TestViewIsWholeBatches(t *testing.T) {
	cfg := config(world(t))
	s := sealed(t, cfg, 1)[0]
	p, err := s.Pin()
	require.NoError(t, err)
	defer p.Release()
	one, err := p.View(0, 0, 1, math.MaxInt64)
	require.NoError(t, err)
	defer one.Release()
	assert.EqualValues(t, 2, one.Next())
	size := int64(len(one.Bytes()))
	three, err := p.View(0, 0, 3*size+size/2, math.MaxInt64)
	require.NoError(t, err)
	defer three.Release()
	assert.EqualValues(t, 6, three.Next())
}
