package recovery_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
)

// A wound is damage to a log of several segments. tear is the first offset that
// is lost where it counts as torn; lost is what is lost where damage is cut out.
type wound struct {
	make func(t *testing.T, m *vfs.Mem, infos []info) (tear int64, lost [2]int64)
	// what becomes of it where nothing was durable, after a clean close, in
	// another program's log, and where only the process was killed
	beyond, closed, foreign, killed string
}

// flip damages batch i of segment s.
func flip(s, i int) func(*testing.T, *vfs.Mem, []info) (int64, [2]int64) {
	return func(t *testing.T, m *vfs.Mem, infos []info) (int64, [2]int64) {
		s := (s + len(infos)) % len(infos)
		b := content(t, m, logName(infos[s].Base))
		all := batches(t, b[:infos[s].Bytes])
		hit := all[(i+len(all))%len(all)]
		b[(hit.from+hit.to)/2] ^= 0x10
		put(t, m, logName(infos[s].Base), b)
		return hit.base, [2]int64{hit.base, hit.end}
	}
}

// shorten takes the last k bytes of the batches of a segment away.
func shorten(s int, k int64) func(*testing.T, *vfs.Mem, []info) (int64, [2]int64) {
	return func(t *testing.T, m *vfs.Mem, infos []info) (int64, [2]int64) {
		s := (s + len(infos)) % len(infos)
		b := content(t, m, logName(infos[s].Base))[:infos[s].Bytes]
		all := batches(t, b)
		hit := all[len(all)-1]
		put(t, m, logName(infos[s].Base), b[:int64(len(b))-k])
		return hit.base, [2]int64{hit.base, hit.end}
	}
}

// blank writes zeros over the batches of a segment from batch i on.
func blank(s, i int) func(*testing.T, *vfs.Mem, []info) (int64, [2]int64) {
	return func(t *testing.T, m *vfs.Mem, infos []info) (int64, [2]int64) {
		s := (s + len(infos)) % len(infos)
		b := content(t, m, logName(infos[s].Base))
		hit := batches(t, b[:infos[s].Bytes])[i]
		clear(b[hit.from:])
		put(t, m, logName(infos[s].Base), b)
		return hit.base, [2]int64{hit.base, infos[s].Next}
	}
}

func vanish(s int) func(*testing.T, *vfs.Mem, []info) (int64, [2]int64) {
	return func(t *testing.T, m *vfs.Mem, infos []info) (int64, [2]int64) {
		s := (s + len(infos)) % len(infos)
		remove(t, m, logName(infos[s].Base))
		return infos[s].Base, [2]int64{infos[s].Base, infos[s].Next}
	}
}

// What becomes of damage.
const (
	cut     = "cut"     // a tear: cut there, and the log ends
	refused = "refused" // Open refuses it and Repair takes out the bad bytes
	unseen  = "unseen"  // by Open; reading reports it, and Verify
	gone    = "gone"    // nobody can know that it was there
)

// TestTornAndDamaged is the table of the package comment: the same damage at
// the tail, in the middle and in sealed segments, beyond and below the recovery
// point, and in a log that another program wrote.
func TestTornAndDamaged(t *testing.T) {
	for name, w := range map[string]wound{
		"newest, last batch":       {flip(-1, -1), cut, unseen, cut, refused},
		"newest, not the last":     {flip(-1, 0), cut, unseen, refused, refused},
		"newest, cut short":        {shorten(-1, 5), cut, refused, cut, refused},
		"newest, zeros to the end": {blank(-1, 1), cut, unseen, cut, refused},
		"older, first batch":       {flip(2, 0), cut, unseen, refused, refused},
		"older, in the middle":     {flip(2, 2), cut, unseen, refused, refused},
		"older, last batch":        {flip(2, -1), cut, unseen, refused, refused},
		"older, cut short":         {shorten(2, 5), cut, refused, refused, refused},
		"older, one byte short":    {shorten(2, 1), cut, refused, refused, refused},
		"older, zeros to the end":  {blank(2, 1), cut, unseen, refused, refused},
		"older, nothing but zeros": {blank(2, 0), cut, unseen, refused, refused},
		"oldest, first batch":      {flip(0, 0), cut, unseen, refused, refused},
		"a missing segment":        {vanish(2), cut, refused, gone, refused}, // R5, M9
		"a missing newest segment": {vanish(-1), cut, refused, gone, gone},
		"a missing oldest segment": {vanish(0), gone, gone, gone, gone},
	} {
		for kind, becomes := range map[string]string{"beyond": w.beyond, "closed": w.closed, "foreign": w.foreign, "killed": w.killed} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				from := map[string]func(testing.TB, int) (*vfs.Mem, []info){"beyond": rebooted, "closed": closed, "foreign": foreign, "killed": killed}[kind]
				m, infos := from(t, 50)
				require.Greater(t, len(infos), 5)
				end := infos[len(infos)-1].Next
				tear, lost := w.make(t, m, infos)
				switch becomes {
				case cut:
					m = recovers(t, m, options(m), span(0, tear))
					require.LessOrEqual(t, len(namesLike(t, m, "seglog.torn-*")), recovery.MaxKeptFiles)
				case refused:
					d := refuses(t, m, "*.log", -1)
					require.LessOrEqual(t, d.Offset, lost[0])
					recovers(t, m, repairing(options(m)), without(span(0, end), lost[0], lost[1]))
				case unseen:
					reportsWhenRead(t, m, without(span(0, end), lost[0], lost[1]), lost)
				case gone:
					recovers(t, m, options(m), without(span(0, end), lost[0], lost[1]))
				}
			})
		}
	}
}

// reportsWhenRead: below the recovery point nothing is scanned at open, so
// damage there is met by who reads it, and everything around it stays readable.
func reportsWhenRead(t *testing.T, m *vfs.Mem, want []int64, lost [2]int64) {
	t.Helper()
	v, err := log.Verify(t.Context(), dir, options(m), nil)
	require.NoError(t, err)
	require.NotEmpty(t, v.Faults)
	l := mustOpen(t, options(m))
	require.True(t, l.Recovery().Clean)
	got, damage := readable(t, l)
	require.Equal(t, want, got)
	require.Len(t, damage, 1)
	var d *log.DamageError
	require.ErrorAs(t, damage[0], &d)
	require.ErrorIs(t, d, record.ErrCorrupt)
	require.Equal(t, lost[0], d.Offset)
	for offset := lost[0]; offset < lost[1]; offset++ {
		_, err := l.Read(offset)
		require.ErrorAs(t, err, &d, "offset %d", offset)
	}
	_, err = l.AppendSync(t.Context(), rec(l.End()))
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// TestRepairKeepsWhatItCuts: repair takes the bad bytes alone and keeps them.
func TestRepairKeepsWhatItCuts(t *testing.T) {
	m, infos := foreign(t, 50)
	var lost [][2]int64
	for _, hit := range [][2]int{{1, 0}, {1, 2}, {1, 3}, {3, -1}, {4, 1}} {
		_, l := flip(hit[0], hit[1])(t, m, infos)
		lost = append(lost, l)
	}
	before := copyOf(t, m)
	want := span(0, infos[len(infos)-1].Next)
	for _, l := range lost {
		want = without(want, l[0], l[1])
	}
	m = recovers(t, m, repairing(options(m)), want)
	// Neighbours are cut out together.
	kept := namesLike(t, m, "seglog.damaged-*")
	require.Len(t, kept, 4)
	at := 0
	for i, l := range lost {
		if i > 0 && l[0] == lost[i-1][1] {
			continue
		}
		require.Equal(t, fmt.Sprintf("seglog.damaged-%020d", l[0]), kept[at])
		bad := content(t, m, kept[at])
		found := false
		for _, s := range infos {
			found = found || contains(content(t, before, logName(s.Base)), bad)
		}
		require.True(t, found, "not the bytes that were there")
		at++
	}
}

func contains(b, part []byte) bool {
	return len(part) > 0 && len(part) < len(b) && bytes.Contains(b, part)
}

// TestPitfallT17DamageInOneOfSix: damage in segment 3 of 6 is reported there and
// nowhere else; the others are left as they are.
func TestPitfallT17DamageInOneOfSix(t *testing.T) {
	m, infos := foreign(t, 50)
	require.GreaterOrEqual(t, len(infos), 6)
	_, lost := flip(2, 1)(t, m, infos)
	r := inspect(t, m, recovery.Options{})
	require.Len(t, r.Damage, 1)
	require.Equal(t, infos[2].Base, r.Damage[0].Segment)
	require.Equal(t, lost[0], r.Damage[0].Offset)
	require.Equal(t, lost[1], r.Damage[0].Next)
	require.Equal(t, infos[len(infos)-1].Next, r.End)
	before := files(t, m)
	l := mustOpen(t, repairing(options(m)))
	require.NoError(t, l.Close())
	for i, s := range infos {
		if i != 2 {
			require.Equal(t, before[logName(s.Base)], string(content(t, m, logName(s.Base))))
		}
	}
}

// TestPitfallT15EveryBit: a bit flipped anywhere in a sealed segment, below the
// recovery point, leaves reading with the same data or an explicit error, and
// Verify never passes.
//
// The base offset and the leader epoch are outside the checksum. A base offset
// that is changed does not follow, or reaches out of its segment, which is seen
// from its neighbours; where compaction has left gaps it may not be. The epoch
// changes nothing that is read. The seal sees both.
func TestPitfallT15EveryBit(t *testing.T) {
	m, infos := closed(t, 14)
	require.Greater(t, len(infos), 2)
	sealAll(t, m)
	want := span(0, infos[len(infos)-1].Next)
	name := logName(infos[1].Base)
	sound := content(t, m, name)
	file, err := m.OpenFile(filepath.Join(dir, name), 2, 0)
	require.NoError(t, err)
	epochs, flipped := 0, 0
	for bit := range len(sound) * 8 {
		if testing.Short() && bit%7 != 0 { // each byte, one bit of it or two
			continue
		}
		pos := int64(bit / 8)
		if field := int(pos) - batchAt(batches(t, sound), int(pos)).from; field >= 12 && field < 16 {
			flipped++
		}
		_, err := file.WriteAt([]byte{sound[pos] ^ 1<<(bit%8)}, pos)
		require.NoError(t, err)
		l := mustOpen(t, reading(options(m)))
		got, damage := readable(t, l)
		if len(damage) == 0 {
			require.Equal(t, want, got, "bit %d", bit)
			epochs++
		} else {
			require.Subset(t, want, got)
			require.ErrorIs(t, damage[0], record.ErrCorrupt)
			require.NotErrorIs(t, damage[0], record.ErrUnsupportedMagic)
			require.Contains(t, damage[0].Error(), name)
		}
		for _, offset := range want {
			if field := int(pos) - batchAt(batches(t, sound), int(pos)).from; field >= 12 && bit%29 != 0 {
				break // what can mislead a lookup is in the first 12 bytes
			}
			r, err := l.Read(offset)
			if err == nil {
				require.Equal(t, string(rec(offset).Value), string(r.Value))
				continue
			}
			var d *log.DamageError
			require.ErrorAs(t, err, &d, "bit %d, offset %d", bit, offset)
		}
		require.NoError(t, l.Close())
		if bit%17 == 0 {
			v, err := log.Verify(t.Context(), dir, options(m), nil)
			require.NoError(t, err)
			require.NotEmpty(t, v.Faults, "bit %d", bit)
		}
		_, err = file.WriteAt(sound[pos:pos+1], pos)
		require.NoError(t, err)
	}
	require.GreaterOrEqual(t, flipped, 4*len(batches(t, sound)))
	require.Equal(t, flipped, epochs, "other bits than those of leader epochs went unseen")
}

// TestPitfallT16EveryBitUnclean: the same with no checkpoint to go by: Open
// refuses, or reads the same.
func TestPitfallT16EveryBitUnclean(t *testing.T) {
	m, infos := foreign(t, 14)
	want := span(0, infos[len(infos)-1].Next)
	for s, info := range infos {
		name := logName(info.Base)
		sound := content(t, m, name)
		all := batches(t, sound)
		file, err := m.OpenFile(filepath.Join(dir, name), 2, 0)
		require.NoError(t, err)
		for bit := range len(sound) * 8 {
			pos := int64(bit / 8)
			_, err := file.WriteAt([]byte{sound[pos] ^ 1<<(bit%8)}, pos)
			require.NoError(t, err)
			r := inspect(t, m, recovery.Options{})
			newest := s == len(infos)-1
			in := batchAt(all, int(pos))
			field := int(pos) - in.from
			switch {
			case field >= 12 && field < 16: // the leader epoch
				require.Empty(t, r.Damage)
				require.Equal(t, want[len(want)-1]+1, r.End)
			case newest && in.to == len(sound) && len(r.Damage) == 0:
				// The last batch of all: that is a torn tail, or, if its base
				// offset was raised, nothing tells that it is wrong.
				if field < 8 {
					require.NotEqual(t, want[len(want)-1]+1, r.End)
				} else {
					require.Equal(t, in.base, r.End)
				}
			case field < 8 && len(r.Damage) == 0:
				t.Fatalf("bit %d of %s, in a base offset, went unseen: %v", bit, name, r.LogValue())
			default:
				require.NotEmpty(t, r.Damage, "bit %d of %s", bit, name)
				require.ErrorIs(t, r.Err(), record.ErrCorrupt)
			}
			_, err = file.WriteAt(sound[pos:pos+1], pos)
			require.NoError(t, err)
		}
	}
}

func batchAt(all []at, pos int) at {
	for _, b := range all {
		if pos < b.to {
			return b
		}
	}
	panic("no batch there")
}

// sealAll lets the log compute the seals of all its sealed segments.
func sealAll(t testing.TB, m *vfs.Mem) {
	t.Helper()
	l := mustOpen(t, options(m))
	require.NoError(t, l.Checkpoint(t.Context()))
	require.NoError(t, l.Close())
}
