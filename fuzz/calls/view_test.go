package calls

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// view is what can be seen of a log.
type view struct {
	First, End, HighWatermark, LastStable int64
	Epoch                                 int32
	Epochs                                []log.EpochEntry
	Producers                             []log.ProducerState
	Aborted                               []log.AbortedTxn
	Records                               []seen
	Committed                             []int64 // offsets of the records that a reader of committed ones gets
}

// seen is one record.
type seen struct {
	Offset int64
	Text   string
}

func see(r record.Record) seen {
	return seen{r.Offset, fmt.Sprintf("%d %s=%s %v", r.Time.UnixMilli(), r.Key, strings.TrimSpace(string(r.Value)), r.Headers)}
}

// viewOf looks at a log, which must be readable.
func viewOf(l *log.Log) (view, error) {
	v := view{First: l.First(), End: l.End(), HighWatermark: l.HighWatermark(), LastStable: l.LastStable(), Epoch: l.LeaderEpoch(),
		Epochs: l.LeaderEpochs(), Producers: l.Producers(), Aborted: slices.Clone(l.Aborted(l.First(), l.End()))}
	if d := l.Durable(); d < v.First || d > v.End || v.HighWatermark > v.End {
		return v, fmt.Errorf("first %d, durable %d, high watermark %d, end %d", v.First, d, v.HighWatermark, v.End)
	}
	for r, err := range l.From(v.First) {
		if err != nil {
			return v, fmt.Errorf("reading: %w", err)
		}
		v.Records = append(v.Records, see(r))
	}
	for r, err := range l.Isolated(log.ReadCommitted).From(v.First) {
		if err != nil {
			return v, fmt.Errorf("reading what is committed: %w", err)
		}
		v.Committed = append(v.Committed, r.Offset)
	}
	return v, nil
}

// String lists it, a line each.
func (v view) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d, %d) hw %d stable %d epoch %d\nepochs %v\nproducers %+v\naborted %+v\ncommitted %v\n", v.First, v.End,
		v.HighWatermark, v.LastStable, v.Epoch, v.Epochs, v.Producers, v.Aborted, v.Committed)
	for _, r := range v.Records {
		fmt.Fprintf(&b, "%d %s\n", r.Offset, r.Text)
	}
	return b.String()
}

// picture is what can be seen of a world: of each log by its directory's name.
type picture map[string]view

// partitions is what a Manager says of each, with its log's view.
func (w *world) picture() (p picture, partitions string, err error) {
	p = make(picture)
	if w.man == nil {
		p[filepath.Base(dir)], err = viewOf(w.log)
		return p, "", err
	}
	var b strings.Builder
	for _, part := range w.man.Partitions() {
		if part.State == log.PartitionDeleted { // for as long as it takes
			continue
		}
		name, _, _ := strings.Cut(part.Name, ".") // the ids of deleted ones are random
		fmt.Fprintf(&b, "%s state %v id %v open %t err %v\n", name, part.State, part.TopicID, part.Log != nil, part.Err)
		if part.Log == nil {
			continue
		}
		if p[part.Name], err = viewOf(part.Log); err != nil {
			return p, "", err
		}
	}
	return p, b.String(), nil
}

func (p picture) String() string {
	var b strings.Builder
	for _, name := range sortedKeys(p) {
		fmt.Fprintf(&b, "%s %v", name, p[name])
	}
	return b.String()
}

// within says whether v's records, from its start to its end, are those of one
// of the others: an earlier end of it is what a power cut may leave.
func (v view) within(others ...view) bool {
	return slices.ContainsFunc(others, func(o view) bool {
		if v.First < o.First && v.End > o.First || v.End > o.End {
			return false
		}
		want := slices.DeleteFunc(slices.Clone(o.Records), func(r seen) bool { return r.Offset < v.First || r.Offset >= v.End })
		return slices.Equal(v.Records, want)
	})
}

// files lists a directory tree: what another program would find, with the
// content of the files that are the same however they came to be.
func files(m vfs.FS, at string) (list []string) {
	for _, e := range must1(m.ReadDir(at)) {
		name := filepath.Join(at, e.Name())
		switch {
		case e.IsDir():
			list = append(list, files(m, name)...)
		case strings.HasSuffix(name, ".txnindex"), strings.HasSuffix(name, "-checkpoint"), strings.HasSuffix(name, "partition.metadata"):
			list = append(list, fmt.Sprintf("%s %q", name, must1(vfs.ReadFile(m, name))))
		default:
			list = append(list, name)
		}
	}
	return list
}
