package compact

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// Replacement is a segment that was written to take the place of others, in
// files that are durable and end in .cleaned.
//
// Commit makes it count after a crash, Finish at once. Each step is durable
// before the next, so that recovery finds one of these states:
//
//	some .cleaned                all .swap and .cleaned are of no use
//	only .swap, with the .log's  they replace all that begins in their range
//	only .swap of other files    they are renamed
//
// Of sources that begin behind the last batch of what was made of them, which is
// no range of its own, such a crash may leave any. They do no harm: what makes a
// record superfluous lies in the output, at a higher offset, or in a later
// segment; and a tombstone or marker that goes has outlived, by a cleaning, all
// that it tells of.
type Replacement struct {
	Facts   segment.Facts      // of the segment
	Aborted []index.AbortedTxn // what its transaction index lists

	cfg      *segment.Config
	old      []int64  // bases of those it replaces; Facts.Base is the first
	suffixes []string // of its files, in the order in which they are renamed
	counts   bool     // Finish was begun: there is no way back
}

func (r *Replacement) name(suffix string) string {
	return filepath.Join(r.cfg.Dir, segment.Name(r.Facts.Base, suffix))
}

// Commit renames .cleaned to .swap. When it returns nil, recovery brings the
// replacement to its end. After an error Discard goes back.
func (r *Replacement) Commit() error {
	for _, suffix := range r.suffixes {
		name := r.name(suffix)
		if err := vfs.Replace(r.cfg.FS, name+segment.CleanedSuffix, name+segment.SwapSuffix); err != nil {
			return err
		}
	}
	return nil
}

// Finish unlinks the old files, which are not in use any more, and gives the
// new ones their names. An error leaves it to recovery. Producer snapshots are
// not its business.
func (r *Replacement) Finish() error {
	r.counts = true
	for _, base := range r.old[1:] {
		for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix, segment.TxnIndexSuffix} {
			if err := r.remove(segment.Name(base, suffix)); err != nil {
				return err
			}
		}
	}
	if err := r.remove(segment.Name(r.Facts.Base, segment.TxnIndexSuffix)); err != nil {
		return err
	}
	if err := r.cfg.FS.SyncDir(r.cfg.Dir); err != nil {
		return err
	}
	for _, suffix := range r.suffixes {
		name := r.name(suffix)
		if err := vfs.Replace(r.cfg.FS, name+segment.SwapSuffix, name); err != nil {
			return err
		}
	}
	return nil
}

// Discard removes what was written, before Commit or after it failed; once
// Finish was begun it does nothing. The .swap go first: alone they would count.
func (r *Replacement) Discard() error {
	if r.counts {
		return nil
	}
	var errs []error
	for _, state := range []string{segment.SwapSuffix, segment.CleanedSuffix} {
		for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix, segment.TxnIndexSuffix} {
			errs = append(errs, r.remove(segment.Name(r.Facts.Base, suffix)+state))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if err := r.cfg.FS.SyncDir(r.cfg.Dir); err != nil {
			return err
		}
	}
	return nil
}

func (r *Replacement) remove(name string) error {
	err := r.cfg.FS.Remove(filepath.Join(r.cfg.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
