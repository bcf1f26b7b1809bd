package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/seglog/seglog/internal/kafkadir"
)

// infoDir tells of a log directory.
func infoDir(ctx context.Context, dir string, names []kafkadir.Name, stdout, stderr io.Writer, asJSON bool) error {
	i, err := gatherDir(ctx, dir, names, stderr)
	if err != nil {
		return err
	}
	write := i.writeText
	if asJSON {
		write = i.writeJSON
	}
	if err := write(stdout); err != nil {
		return err
	}
	if i.faults > 0 {
		return fmt.Errorf("%s that cannot be opened or is damaged; seglog verify %s tells all", plural(int64(i.faults), "partition"), dir)
	}
	return nil
}

func (i *dirInfo) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(i)
}

// writeText writes a row for each partition, then what there is to say.
func (i *dirInfo) writeText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PARTITION\tOFFSETS\tSEGMENTS\tSIZE\tFROM\tTO\tEPOCH\tPRODUCERS\tOPEN TXNS\tSTATE")
	for _, p := range i.Partitions {
		name, state := p.Name, p.State
		if p.Error != "" || len(p.Damage) > 0 {
			state += ", bad"
		} else if len(p.Repairs) > 0 {
			state += ", to be repaired"
		}
		if p.Error != "" {
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t-\t-\t-\t%s\n", name, state)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", name, offsetRange(p.LogStart, p.End), p.Segments, formatSize(p.Bytes),
			formatTime(p.From), formatTime(p.To), epochText(p.LeaderEpochs), p.Producers, openText(p.OpenTransactions), state)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\npartitions\t%d\n", len(i.Partitions))
	fmt.Fprintf(t, "size\t%s (%s bytes)\n", formatSize(i.Bytes), humanize.Comma(i.Bytes))
	if i.ClusterID != "" {
		fmt.Fprintf(t, "cluster\t%s\n", i.ClusterID)
	}
	if i.NodeID != nil {
		fmt.Fprintf(t, "node\t%d\n", *i.NodeID)
	}
	state := "not stopped cleanly, or in use"
	if i.Clean {
		state = "stopped cleanly"
	}
	fmt.Fprintf(t, "state\t%s\n", state)
	for _, n := range i.Notes {
		fmt.Fprintf(t, "note\t%s\n", n)
	}
	for _, p := range i.Partitions {
		for _, r := range p.Repairs {
			fmt.Fprintf(t, "next open\t%s: %s\n", p.Name, r)
		}
		for _, d := range p.Damage {
			fmt.Fprintf(t, "damage\t%s\n", d)
		}
		if p.Error != "" {
			fmt.Fprintf(t, "error\t%s: %s\n", p.Name, oneLine(p.Error))
		}
	}
	return t.Flush()
}

// epochText is the newest leader epoch.
func epochText(epochs []epochInfo) string {
	if len(epochs) == 0 {
		return "-"
	}
	return strconv.Itoa(int(epochs[len(epochs)-1].Epoch))
}

// openText is how many transactions are open, and since where.
func openText(open []openTxn) string {
	if len(open) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d from %d", len(open), open[0].First)
}
