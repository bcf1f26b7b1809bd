package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// stateInfo is what info tells of a log beside its segments.
type stateInfo struct {
	LastStable       int64          `json:"last_stable"`
	LeaderEpochs     []epochInfo    `json:"leader_epochs"`
	Producers        int            `json:"producers"`
	ProducerStates   []producerInfo `json:"producer_states,omitempty"`
	OpenTransactions []openTxn      `json:"open_transactions"`
}

type epochInfo struct {
	Epoch int32 `json:"epoch"`
	Start int64 `json:"start"`
}

type openTxn struct {
	ProducerID int64 `json:"producer_id"`
	First      int64 `json:"first"`
}

// producerInfo has null for what there is none of.
type producerInfo struct {
	ID               int64     `json:"id"`
	Epoch            int16     `json:"epoch"`
	LastSequence     *int32    `json:"last_sequence"`
	LastOffset       *int64    `json:"last_offset"`
	Time             time.Time `json:"time"`
	CoordinatorEpoch *int32    `json:"coordinator_epoch"`
	TxnFirst         *int64    `json:"txn_first"`
}

// fewProducers is how many are told of one by one without being asked for.
const fewProducers = 10

// gatherState is bounded by the high watermark.
func gatherState(l *log.Log, highWatermark int64, allProducers bool) stateInfo {
	i := stateInfo{LastStable: min(l.LastStable(), highWatermark), LeaderEpochs: []epochInfo{}, OpenTransactions: []openTxn{}}
	for _, e := range l.LeaderEpochs() {
		i.LeaderEpochs = append(i.LeaderEpochs, epochInfo{e.Epoch, e.Start})
	}
	producers := l.Producers()
	i.Producers = len(producers)
	for _, p := range producers {
		if p.TxnFirst >= 0 {
			i.OpenTransactions = append(i.OpenTransactions, openTxn{p.ID, p.TxnFirst})
		}
		if allProducers || len(producers) <= fewProducers {
			i.ProducerStates = append(i.ProducerStates, producerInfo{p.ID, p.Epoch, unlessNone(p.LastSequence),
				unlessNone(p.LastOffset), time.UnixMilli(p.LastTimestamp).UTC(), unlessNone(p.CoordinatorEpoch), unlessNone(p.TxnFirst)})
		}
	}
	slices.SortFunc(i.OpenTransactions, func(a, b openTxn) int { return cmp.Compare(a.First, b.First) })
	return i
}

func unlessNone[N int32 | int64](n N) *N {
	if n < 0 {
		return nil
	}
	return &n
}

// notedHighWatermark is the high watermark of a log in dir that a broker wrote,
// as it noted it in the log directory above.
func notedHighWatermark(dir string) (int64, bool) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, false
	}
	marks, err := kafkadir.ReadOffsets(vfs.OS, filepath.Dir(abs), kafkadir.HighWatermarkFile)
	if err != nil {
		return 0, false
	}
	mark, ok := marks[filepath.Base(abs)]
	return mark, ok
}

// writeText writes rows of a table of two columns.
func (i *stateInfo) writeText(t io.Writer) {
	fmt.Fprintf(t, "leader epochs\t%s\n", epochsText(i.LeaderEpochs))
	fmt.Fprintf(t, "producers\t%s\n", humanize.Comma(int64(i.Producers)))
	fmt.Fprintf(t, "open transactions\t%s\n", openText(i.OpenTransactions))
}

// epochsText is the newest epochs and where they begin.
func epochsText(epochs []epochInfo) string {
	const few = 5
	if len(epochs) == 0 {
		return "-"
	}
	var list []string
	if more := len(epochs) - few; more > 0 {
		list, epochs = append(list, fmt.Sprintf("%d older", more)), epochs[more:]
	}
	for _, e := range epochs {
		list = append(list, fmt.Sprintf("%d from %d", e.Epoch, e.Start))
	}
	return strings.Join(list, ", ")
}

// writeProducers writes a table, if there is one to write.
func (i *stateInfo) writeProducers(w io.Writer) error {
	if len(i.ProducerStates) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nPRODUCER\tEPOCH\tLAST SEQUENCE\tLAST OFFSET\tTIME\tCOORDINATOR EPOCH\tTRANSACTION")
	for _, p := range i.ProducerStates {
		txn := "-"
		if p.TxnFirst != nil {
			txn = fmt.Sprintf("from %d", *p.TxnFirst)
		}
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.Epoch, number(p.LastSequence), number(p.LastOffset),
			formatTime(&p.Time), number(p.CoordinatorEpoch), txn)
	}
	return t.Flush()
}

func number[N int32 | int64](n *N) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}
