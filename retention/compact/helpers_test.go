package compact

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

var noon = time.UnixMilli(1_700_000_000_000).UTC()

// disk is a directory of sealed segments, to be compacted without a log.
type disk struct {
	t        testing.TB
	cfg      *segment.Config
	segments []*segment.Segment
	end      int64
	aborted  []index.AbortedTxn
	now      time.Time
	seen     map[int64]bool
	hash     func([]byte) uint64
	spill    bool
	options  Options // of cleanNext
	first    int64   // where it begins
	total    Result  // of all cleanings by cleanNext
}

func newDisk(t testing.TB, fsys vfs.FS, dir string, segmentBytes int64) *disk {
	require.NoError(t, vfs.MkdirAll(fsys, dir, 0o755))
	return &disk{t: t, now: noon, cfg: &segment.Config{FS: fsys, Dir: dir, Bytes: segmentBytes, IndexInterval: 4096,
		MaxBatchBytes: record.DefaultMaxBytes, Cache: segment.NewCache(16), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}}
}

// add makes a sealed segment of whole batches, each placed at the end of what is
// there.
func (d *disk) add(batches ...[]byte) {
	d.t.Helper()
	s, err := segment.Create(d.cfg, d.end)
	require.NoError(d.t, err)
	for _, raw := range batches {
		h, err := record.ParseHeader(raw)
		require.NoError(d.t, err)
		require.NoError(d.t, s.Reserve(int64(len(raw))))
		require.NoError(d.t, s.Append(raw, &h, d.end))
		d.end += int64(h.LastOffsetDelta) + 1
	}
	require.NoError(d.t, s.Seal())
	require.NoError(d.t, s.Sync())
	require.NoError(d.t, s.CloseFile())
	d.segments = append(d.segments, s)
}

// round is the next round from an offset on.
func (d *disk) round(first int64, o Options) Round {
	o, err := o.WithDefaults()
	require.NoError(d.t, err)
	if d.seen == nil {
		d.seen = make(map[int64]bool)
	}
	return Round{Config: d.cfg, Segments: slices.Clone(d.segments), FirstDirty: first, End: d.end, HighWatermark: -1, Now: d.now,
		Options: o, Aborted: d.aborted, Seen: d.seen, Replace: d.replace, hash: d.hash, spill: d.spill}
}

func (d *disk) replace(old []*segment.Segment, r *Replacement) error {
	if err := r.Commit(); err != nil {
		return err
	}
	for _, s := range old {
		if err := s.Close(); err != nil {
			return err
		}
	}
	if err := r.Finish(); err != nil {
		return err
	}
	i, _ := slices.BinarySearchFunc(d.segments, r.Facts.Base, func(s *segment.Segment, base int64) int { return cmp.Compare(s.Base(), base) })
	d.segments = slices.Replace(d.segments, i, i+len(old), segment.OpenSealed(d.cfg, r.Facts))
	return nil
}

// clean does rounds from first until all is mapped.
func (d *disk) clean(first int64, o Options) (all Result) {
	d.t.Helper()
	for all.MappedTo = first; all.MappedTo < d.end; {
		round := d.round(all.MappedTo, o)
		round.NoSpill = all.NoSpill
		r, err := round.Run(context.Background())
		require.NoError(d.t, err)
		all.Add(r)
	}
	return all
}

// cleanNext cleans from where the last cleaning came to.
func (d *disk) cleanNext() {
	d.t.Helper()
	r := d.clean(d.first, d.options)
	d.first = r.FirstDirty
	d.total.Add(r)
}

// records is all there is, aborted data and markers included.
func (d *disk) records() (list []record.Record) {
	d.t.Helper()
	d.batches(func(b record.Batch) {
		var dec record.Decoder
		require.NoError(d.t, record.Validate(b, &dec))
		for r, err := range dec.Records(b) {
			require.NoError(d.t, err)
			list = append(list, r)
		}
	})
	return list
}

func (d *disk) headers() (list []record.BatchHeader) {
	d.t.Helper()
	d.batches(func(b record.Batch) { list = append(list, b.BatchHeader) })
	return list
}

func (d *disk) batches(each func(b record.Batch)) {
	d.t.Helper()
	for _, s := range d.segments {
		p, err := s.Pin()
		require.NoError(d.t, err)
		for pos, next := int64(0), s.Base(); ; {
			var b record.Batch
			_, err := p.Read(&b, pos, next, nil)
			if err == io.EOF {
				break
			}
			require.NoError(d.t, err)
			each(b)
			pos, next = pos+int64(b.Size), b.NextOffset()
		}
		p.Release()
	}
}

// encode is a batch of those records.
func encode(t testing.TB, o record.BatchOptions, records ...record.Record) []byte {
	t.Helper()
	var b record.Builder
	b.Reset(o)
	for i := range records {
		require.NoError(t, b.Add(&records[i]))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	return slices.Clone(raw)
}
