package kafka

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// stored is a batch where it lies.
type stored struct {
	record.Batch
	segment  int64
	position int
}

// batchesIn are all batches of a partition.
func batchesIn(t *testing.T, dir string) (list []stored) {
	t.Helper()
	for _, name := range logs(t, dir) {
		base, _, _ := segment.ParseName(name)
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		for pos := 0; pos < len(content); {
			b, err := record.Parse(content[pos:])
			require.NoError(t, err, "%s at position %d", filepath.Join(dir, name), pos)
			list = append(list, stored{b, base, pos})
			pos += b.Size
		}
	}
	return list
}

func byBase(list []stored) map[int64]stored {
	all := make(map[int64]stored, len(list))
	for _, b := range list {
		all[b.BaseOffset] = b
	}
	return all
}

// newHorizons are the delete horizons that were not there before, ascending.
func newHorizons(t *testing.T, before, after []stored) (list []int64) {
	t.Helper()
	had := byBase(before)
	for _, b := range after {
		ms, has := b.DeleteHorizon()
		old, hadOne := had[b.BaseOffset].DeleteHorizon()
		if hadOne && has {
			require.Equal(t, old, ms, "a horizon moved, at offset %d", b.BaseOffset)
		}
		if has && !hadOne {
			list = append(list, ms)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// agreement adds up what was compared.
type agreement struct {
	dropped                                     int64
	segments, batches, copied, emptied, markers int
	horizons, aborts, records                   int
}

func (a agreement) String() string {
	return fmt.Sprintf("%d records dropped and %d left in %d segments of %d batches, %d of them copied, %d empty, %d of markers, %d with a new horizon; %d aborted transactions",
		a.dropped, a.records, a.segments, a.batches, a.copied, a.emptied, a.markers, a.horizons, a.aborts)
}

// agrees holds what both cleaners left of a partition against each other.
func agrees(t *testing.T, c *cleaning, round int, before, ours, theirs string, sum *agreement) {
	t.Helper()
	earlier, got, want := batchesIn(t, before), batchesIn(t, ours), batchesIn(t, theirs)
	was := byBase(earlier)
	var d record.Decoder
	for i := range min(len(got), len(want)) {
		require.Equal(t, describe(t, want[i], &d, c, was), describe(t, got[i], &d, c, was), "batch %d", i)
		exact(t, was[want[i].BaseOffset], got[i], want[i], len(c.horizons) <= 1)
		sum.count(want[i], was)
	}
	if len(got) > len(want) {
		t.Fatalf("we left a batch that Kafka did not: %s", describe(t, got[len(want)], &d, c, was))
	}
	if len(got) < len(want) {
		t.Fatalf("Kafka left a batch that we did not: %s", describe(t, want[len(got)], &d, c, was))
	}
	lost(t, before, got)
	if c.severalRounds {
		return // Kafka's segments of one round are grouped again in the next
	}
	for i := range got {
		require.Equal(t, want[i].segment, got[i].segment, "segment of the batch at offset %d", got[i].BaseOffset)
	}
	require.Equal(t, logs(t, theirs), logs(t, ours), "segments")
	for _, name := range logs(t, theirs) {
		sum.segments++
		sum.aborts += sameFiles(t, name, ours, theirs, c, earlier)
	}
}

func (a *agreement) count(b stored, was map[int64]stored) {
	a.batches, a.records = a.batches+1, a.records+int(b.Count)
	old := was[b.BaseOffset]
	if bytes.Equal(old.Bytes(), b.Bytes()) {
		a.copied++
	}
	if b.Count == 0 {
		a.emptied++
	}
	if b.Control() {
		a.markers++
	}
	if _, has := b.DeleteHorizon(); has {
		if _, had := old.DeleteHorizon(); !had {
			a.horizons++
		}
	}
}

// describe is a batch as it has to be found, but for what its codec makes of
// the same records. Where Kafka came to the end in several cleanings, each at a
// time of its own, of a new horizon only that it is one of theirs, or ours.
func describe(t *testing.T, b stored, d *record.Decoder, c *cleaning, was map[int64]stored) string {
	t.Helper()
	h, text := b.BatchHeader, ""
	h.Size, h.CRC = 0, 0
	ms, has := b.DeleteHorizon()
	_, had := was[b.BaseOffset].DeleteHorizon()
	if has && !had && c.severalRounds && (slices.Contains(c.horizons, ms) || ms == c.ours) {
		h.BaseTimestamp, text = 0, " with a new horizon"
	}
	text = fmt.Sprintf("%+v%s", h, text)
	for r, err := range d.Records(b.Batch) {
		require.NoError(t, err, "offset %d", b.BaseOffset)
		text += "\n" + line(r).text
	}
	return text
}

// exact: what one of them left as it was, the other did, and what they wrote
// anew is the same bytes, where no codec has a choice of them.
func exact(t *testing.T, was, got, want stored, sameTime bool) {
	t.Helper()
	copied := bytes.Equal(want.Bytes(), was.Bytes())
	require.Equal(t, copied, bytes.Equal(got.Bytes(), was.Bytes()), "copied as it was, the batch at offset %d", want.BaseOffset)
	if want.Codec() == record.None && sameTime {
		require.True(t, bytes.Equal(want.Bytes(), got.Bytes()), "bytes of the batch at offset %d:\n%x\n%x", want.BaseOffset, want.Bytes(), got.Bytes())
	}
}

// lost: of each key the newest record that was not aborted is there, unless it
// is a tombstone.
func lost(t *testing.T, before string, left []stored) {
	t.Helper()
	there := map[int64]bool{}
	var d record.Decoder
	for _, b := range left {
		for r, err := range d.Records(b.Batch) {
			require.NoError(t, err)
			there[r.Offset] = true
		}
	}
	l, err := log.Open(t.Context(), before, log.Options{Mode: log.ReadOnly})
	require.NoError(t, err)
	defer l.Close()
	newest := map[string]found{}
	for _, f := range readCommitted(t, l) {
		newest[f.key] = f
	}
	for _, f := range newest {
		require.True(t, f.null || f.key == "-" || there[f.offset], "the newest record of its key is gone: %s", f.text)
	}
}

// sameFiles holds what lies beside a log against each other. Indexes have the
// same entries where no codec has made batches of another size.
func sameFiles(t *testing.T, name, ours, theirs string, c *cleaning, was []stored) (aborts int) {
	t.Helper()
	base, _, _ := segment.ParseName(name)
	read := func(dir, suffix string) []byte {
		content, err := os.ReadFile(filepath.Join(dir, segment.Name(base, suffix)))
		if os.IsNotExist(err) {
			return nil
		}
		require.NoError(t, err)
		return content
	}
	want, err := index.DecodeTxns(read(theirs, segment.TxnIndexSuffix), base)
	require.NoError(t, err)
	got, err := index.DecodeTxns(read(ours, segment.TxnIndexSuffix), base)
	require.NoError(t, err)
	sameAborts(t, name, got, want, was, c.skipped)
	when := func(dir string) int64 {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		return info.ModTime().UnixMilli()
	}
	active := base == lastBase(t, theirs)
	if !active {
		require.Equal(t, when(theirs), when(ours), "modification time of %s", name)
	}
	if bytes.Equal(read(ours, segment.LogSuffix), read(theirs, segment.LogSuffix)) && !active {
		for _, suffix := range []string{segment.IndexSuffix, segment.TimeIndexSuffix} {
			require.Equal(t, read(theirs, suffix), read(ours, suffix), "%s of %s", suffix, name)
		}
	}
	return len(want)
}

// sameAborts holds the aborted transactions of a segment's index against each
// other. Kafka, which was running, remembers those of which an earlier cleaning
// removed the first batches, or all; we were opened on what was left, and have
// derived them of that, as Kafka does when it recovers: they begin at the first
// batch that was there, and are not there in a log that this round did not clean
// if none was.
func sameAborts(t *testing.T, name string, got, want []index.AbortedTxn, was []stored, skipped bool) {
	t.Helper()
	moved := false
	for _, a := range want {
		first := slices.IndexFunc(was, func(b stored) bool {
			return b.ProducerID == a.ProducerID && !b.Control() && b.Transactional() && a.First <= b.BaseOffset && b.BaseOffset < a.Last
		})
		if first < 0 {
			require.True(t, skipped, "Kafka has an aborted transaction without data in the index of %s that it made: %+v", name, a)
			moved = true
			continue
		}
		require.NotEmpty(t, got, "aborted transactions of %s", name)
		moved = moved || a.First != was[first].BaseOffset
		a.First = was[first].BaseOffset
		if moved { // what was stable at the time depends on where they began
			require.GreaterOrEqual(t, got[0].LastStableOffset, a.LastStableOffset, name)
			a.LastStableOffset = got[0].LastStableOffset
		}
		require.Equal(t, a, got[0], "aborted transactions of %s", name)
		got = got[1:]
	}
	require.Empty(t, got, "aborted transactions of %s that Kafka does not have", name)
}

func lastBase(t *testing.T, dir string) int64 {
	t.Helper()
	names := logs(t, dir)
	base, _, _ := segment.ParseName(names[len(names)-1])
	return base
}
