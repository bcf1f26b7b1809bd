package recovery_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// FuzzRecover takes bytes for the files of a directory: the log of one or two
// segments, an index, a time index and the checkpoint. Such a directory opens,
// or is refused with an error that is documented. What it reads back are batches
// that are there. The next open repairs nothing, and what is appended stays.
func FuzzRecover(f *testing.F) {
	m, infos := closed(f, 12)
	all := func(suffix string, i int) []byte { return content(f, m, segment.Name(infos[i].Base, suffix)) }
	first, second := all(".log", 0), all(".log", 1)
	checkpoint := content(f, m, recovery.CheckpointName)
	f.Add(first, second, infos[1].Base, all(".index", 0), all(".timeindex", 0), checkpoint, []byte{}, false)
	f.Add(first, second, infos[1].Base, []byte{}, []byte{1}, []byte{}, []byte{}, true)
	f.Add(first[:len(first)-9], second, infos[1].Base, []byte{}, []byte{}, []byte{}, []byte{}, true)
	f.Add(first, append(second[:200:200], make([]byte, 100)...), infos[1].Base, []byte{}, []byte{}, []byte{}, []byte{}, false)
	f.Add(append(first[:100:100], first...), []byte{}, int64(5), []byte{}, []byte{}, checkpoint, []byte{}, true)
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14\x00\x00\x00\x00\x01"), []byte{}, int64(0), []byte{}, []byte{}, []byte{}, []byte{}, false)
	unsealed := (&recovery.Checkpoint{LogStart: 3, Dropping: true, DropFrom: 7}).Encode()
	f.Add(first, second, infos[1].Base, []byte{}, []byte{}, unsealed, []byte{}, false)
	lying := (&recovery.Checkpoint{Clean: true, RecoveryPoint: 50, Segments: []segment.Facts{{Base: 0, Next: 50, Size: int64(len(first))}}}).Encode()
	f.Add(first, []byte{}, int64(-1), []byte{}, []byte{}, lying, []byte{}, false)

	for _, edits := range []string{"0000", "1b09", "2e\x01\x03", "3z\x00\x40", "0s\x01\x20", "1o\x00\x07", "0d\x02\x01", "0000" + "1111" + "0s\x00\x20"} {
		f.Add(first, second, infos[1].Base, all(".index", 0), all(".timeindex", 0), checkpoint, []byte(edits), true)
		f.Add(first, second, infos[1].Base, all(".index", 0), all(".timeindex", 0), []byte{}, []byte(edits), true)
	}

	f.Fuzz(recoverAnything)
}

// TestRecoverAnything is FuzzRecover's property of one to four random edits to
// two good segments and their files.
func TestRecoverAnything(t *testing.T) {
	m, infos := closed(t, 12)
	all := func(suffix string, i int) []byte { return content(t, m, segment.Name(infos[i].Base, suffix)) }
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 2))
		edits := make([]byte, 4*(1+r.IntN(4)))
		for i := range edits {
			edits[i] = byte(r.Uint32())
			if i%4 == 2 {
				edits[i] &= 3 // within the first KiB
			}
		}
		checkpoint := content(t, m, recovery.CheckpointName)
		if r.IntN(3) > 0 {
			checkpoint = nil
		}
		recoverAnything(t, all(".log", 0), all(".log", 1), infos[1].Base, all(".index", 0), all(".timeindex", 0),
			checkpoint, edits, r.IntN(2) == 0)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func recoverAnything(t *testing.T, first, second []byte, base int64, offsets, times, checkpoint, edits []byte, repair bool) {
	if len(first)+len(second) > 1<<14 || len(edits) > 64 {
		return
	}
	for ; len(edits) >= 4; edits = edits[4:] {
		part := []*[]byte{&first, &second, &offsets, &times}[edits[0]%4]
		*part = edit(*part, edits[1], int(edits[2])<<8|int(edits[3]))
	}
	// A checkpoint that does not hold is one that is not believed; one that
	// does is what this engine wrote, and not for a fuzzer to make up.
	m := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(m, dir, 0o755))
	put(t, m, segment.Name(0, segment.LogSuffix), first)
	if base > 0 {
		put(t, m, segment.Name(base, segment.LogSuffix), second)
		put(t, m, segment.Name(base, segment.IndexSuffix), offsets)
	}
	put(t, m, segment.Name(0, segment.IndexSuffix), offsets)
	put(t, m, segment.Name(0, segment.TimeIndexSuffix), times)
	put(t, m, recovery.CheckpointName, checkpoint)

	there := map[string]bool{}
	for _, b := range [][]byte{first, second} {
		for pos := range b {
			if batch, err := record.Parse(b[pos:]); err == nil {
				there[string(batch.Bytes())] = true
			}
		}
	}
	o := options(m)
	if repair {
		o.Mode = log.Repair
	}
	o.MaxBatchBytes = 1 << 20
	l, err := log.Open(t.Context(), dir, o)
	if err != nil {
		var d *log.DamageError
		if !errors.As(err, &d) && !errors.Is(err, record.ErrUnsupportedMagic) {
			t.Fatalf("refused with %v", err)
		}
		if repair && errors.As(err, &d) {
			t.Fatalf("damage that cannot be repaired: %v", err)
		}
		return
	}
	before, damaged := raw(t, l, there)
	end := l.End()
	if end > 1<<62 { // no room for offsets behind it
		return
	}
	at, err := l.AppendSync(t.Context(), rec(0))
	if err != nil {
		t.Fatal(err)
	}
	require.Equal(t, end, at)
	require.NoError(t, l.Close())
	o.Mode = log.ReadWrite
	l, err = log.Open(t.Context(), dir, o)
	require.NoError(t, err)
	if !damaged { // of damage that a checkpoint vouched for there is no index that holds
		require.Empty(t, l.Recovery().Actions)
		require.True(t, l.Recovery().Clean)
	}
	after, _ := raw(t, l, nil)
	if len(after) != len(before)+1 || !slices.Equal(before, after[:len(before)]) {
		t.Fatalf("%d batches, then one was appended, then there are %d", len(before), len(after))
	}
	r, err := l.Read(end)
	require.NoError(t, err)
	require.Equal(t, string(rec(0).Value), string(r.Value))
	require.NoError(t, l.Close())
}

// edit is b, whole batches perhaps, with one thing done to it at a place: most
// keep the checksums good, which a fuzzer does not hit upon.
func edit(b []byte, op byte, place int) []byte {
	b = append([]byte(nil), b...)
	if len(b) == 0 {
		return b
	}
	at := place % len(b)
	start, size := 0, 0 // of the batch that holds it
	for {
		h, err := record.ParseHeader(b[start:])
		if err != nil || start+h.Size > len(b) {
			size = 0
			break
		}
		if size = h.Size; at < start+size {
			break
		}
		start += size
	}
	switch op % 8 {
	case 0: // a bit
		b[at] ^= 1 << (place >> 8 % 8)
	case 1: // cut
		b = b[:at]
	case 2: // zeros
		clear(b[at:min(at+place%97, len(b))])
	case 3: // more zeros
		b = append(b, make([]byte, place%2000)...)
	case 4: // a batch twice
		b = append(b, b[start:start+size]...)
	case 5: // a batch less
		b = append(b[:start], b[start+size:]...)
	case 6: // another base offset
		if size > 0 {
			record.SetBaseOffset(b[start:], int64(place))
		}
	case 7: // another offset range, with a checksum to it
		if size > 0 {
			b[start+26] = byte(place)
			record.SetCreateTime(b[start:start+size], int64(place))
		}
	}
	return b
}

// raw is the batches of a log that can be read, each one of those that are
// there, if that is not nil.
func raw(t *testing.T, l *log.Log, there map[string]bool) (list []string, damaged bool) {
	t.Helper()
	for at := l.First(); at < l.End(); {
		v, err := l.Borrow(at, 1)
		var d *log.DamageError
		if errors.As(err, &d) {
			damaged = true
			next := l.End()
			for _, s := range slices.Backward(l.Segments()) {
				if s.Base > max(at, d.Segment) {
					next = s.Base
				}
			}
			if d.Next > at {
				next = min(next, d.Next)
			}
			at = next
			continue
		}
		if err != nil {
			return list, damaged // a gap up to the end
		}
		b := string(v.Bytes())
		if there != nil && !there[b] {
			t.Fatalf("a batch of %d bytes that was not there", len(b))
		}
		list = append(list, b)
		at = v.Next()
		v.Release()
	}
	return list, damaged
}
