package recovery

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/seglog/seglog/segment"
)

// Kind is what an Action does. The list is closed.
type Kind int

const (
	// Remove unlinks a file that is of no use: half-written, replaced, or an
	// index without a log.
	Remove Kind = iota
	// Finish renames a complete replacement to its final name.
	Finish
	// Cut takes the bytes from Size on off a segment's log, keeping them aside
	// where they are not all zero.
	Cut
	// SetAside takes a whole segment behind a tear out of the log.
	SetAside
	// Excise cuts the damaged bytes [Size, Size+Bytes) out of a segment, keeping
	// them aside. Only with repair.
	Excise
	// Reindex derives a segment's indexes from its log.
	Reindex
)

var kindNames = [...]string{"remove", "finish", "cut", "set aside", "excise", "reindex"}

func (k Kind) String() string { return kindNames[k] }

// Action is one repair.
type Action struct {
	Kind    Kind
	Name    string // of the file, within the directory
	To      string // Finish: the final name; Cut, SetAside, Excise: where the bytes go, "" for nowhere
	Segment int64  // base offset
	Size    int64  // Cut: the length left; Excise: the position
	Bytes   int64  // taken away
	Later   bool   // Remove: it does no harm, and if it cannot be removed stays for a later open
	Reason  string
}

func (a Action) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", a.Kind, a.Name)
	switch a.Kind {
	case Cut:
		fmt.Fprintf(&b, " from position %d (%d bytes)", a.Size, a.Bytes)
	case Excise:
		fmt.Fprintf(&b, " positions %d to %d", a.Size, a.Size+a.Bytes)
	}
	if a.To != "" {
		fmt.Fprintf(&b, " to %s", a.To)
	}
	return b.String() + ": " + a.Reason
}

// Segment is a segment as it will be after Apply.
type Segment struct {
	segment.Facts
	// Trusted is the position below which the index files are believed.
	Trusted int64
	// Lost is damage behind the last batch, up to Next, nil for none. There may be
	// no file at all. It is met by who reads the log as it is.
	Lost *segment.DamageError
	// Swapped says that it is about to replace others, and that files of it still
	// have names that end in .swap. Apply renames them.
	Swapped bool
}

// Report is what Inspect found.
type Report struct {
	Dir string
	// Clean says that the log was closed, and that its files are as they were
	// then: nothing was scanned.
	Clean bool
	// Foreign says that there is no checkpoint of this engine to go by.
	Foreign bool
	// Checkpoint is what the log noted of itself; nil if Foreign.
	Checkpoint *Checkpoint
	// Note says what was odd about the checkpoint, "" for nothing.
	Note string

	RecoveryPoint int64 // first offset not known to be durable
	HighWatermark int64 // as checkpointed
	LogStart      int64
	Cleaned       int64 // Foreign: how far the log was compacted, as a broker noted
	End           int64 // the log end offset

	Segments []Segment // oldest first; may be empty
	Actions  []Action  // in the order they are applied
	// Damage is what Apply does not touch. With any of it a log does not open
	// for writing.
	Damage []*segment.DamageError

	// Running says that the machine has been since the log was opened for writing, so
	// that all that was appended is there.
	Running bool
	// Owed says that Apply has left to the log's next sync what it did, and the names
	// that a process left.
	Owed bool

	ScannedBytes   int64
	ScannedBatches int64
	Took           time.Duration
}

// Err is the first damage, nil where there is none.
func (r *Report) Err() error {
	if len(r.Damage) == 0 {
		return nil
	}
	return r.Damage[0]
}

// Dropping says that a DropFrom was begun and not brought to its end: behind End
// there may be batches that are yet to be cut.
func (r *Report) Dropping() bool { return r.Checkpoint != nil && r.Checkpoint.Dropping }

// StartingAnew says of a log that is Dropping that it is a DropAll: all that its
// files say is of the log that there was.
func (r *Report) StartingAnew() bool {
	return r.Dropping() && r.Checkpoint.DropFrom < r.Checkpoint.LogStart
}

// LogValue is the report in one line.
func (r *Report) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("dir", r.Dir),
		slog.Bool("clean", r.Clean),
		slog.Int("segments", len(r.Segments)),
		slog.Int64("first", r.LogStart),
		slog.Int64("end", r.End),
		slog.Any("repairs", actionStrings(r.Actions)),
		slog.Int("damaged", len(r.Damage)),
		slog.Int64("scanned", r.ScannedBytes),
		slog.Duration("took", r.Took),
	)
}

func actionStrings(actions []Action) []string {
	out := make([]string, len(actions))
	for i, a := range actions {
		out[i] = a.String()
	}
	return out
}
