package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/log"
)

// dirInfo is what info tells of a log directory, in the form of its JSON.
type dirInfo struct {
	Dir         string          `json:"dir"`
	ClusterID   string          `json:"cluster_id,omitempty"`
	NodeID      *int32          `json:"node_id,omitempty"`
	DirectoryID string          `json:"directory_id,omitempty"`
	Clean       bool            `json:"clean"`
	Bytes       int64           `json:"bytes"`
	Partitions  []partitionInfo `json:"partitions"`
	Notes       []string        `json:"notes"`

	faults int // partitions that are damaged or could not be opened
}

type partitionInfo struct {
	Name             string      `json:"name"` // of the directory
	Topic            string      `json:"topic"`
	Partition        int32       `json:"partition"`
	State            string      `json:"state"`
	TopicID          string      `json:"topic_id,omitempty"`
	LogStart         int64       `json:"log_start"`
	LastStable       int64       `json:"last_stable"`
	HighWatermark    int64       `json:"high_watermark"`
	End              int64       `json:"end"`
	Segments         int         `json:"segments"`
	Bytes            int64       `json:"bytes"`
	From             *time.Time  `json:"from"` // of the first batch
	To               *time.Time  `json:"to"`   // the largest
	LeaderEpochs     []epochInfo `json:"leader_epochs"`
	Producers        int         `json:"producers"`
	OpenTransactions []openTxn   `json:"open_transactions"`
	Repairs          []string    `json:"repairs"`
	Damage           []string    `json:"damage"`
	Error            string      `json:"error,omitempty"`
}

type epochInfo struct {
	Epoch int32 `json:"epoch"`
	Start int64 `json:"start"`
}

type openTxn struct {
	ProducerID int64 `json:"producer_id"`
	First      int64 `json:"first"`
}

func gatherDir(ctx context.Context, dir string) (*dirInfo, error) {
	m, err := log.OpenManager(ctx, dir, log.ManagerOptions{Log: log.Options{Mode: log.ReadOnly}})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	found := m.Found()
	i := &dirInfo{Dir: dir, Clean: found.Clean, Partitions: []partitionInfo{}, Notes: append([]string{}, found.Notes...)}
	if found.Meta != nil {
		i.ClusterID, i.DirectoryID = found.Meta.ClusterID, found.Meta.DirectoryID
		if found.Meta.NodeID >= 0 {
			i.NodeID = &found.Meta.NodeID
		}
	}
	list := m.Partitions()
	if name := kafkadir.ClusterMetadata + "-0"; hasSegments(filepath.Join(dir, name)) {
		list = append(list, log.Partition{Name: name, Topic: kafkadir.ClusterMetadata})
	}
	for _, p := range list {
		info, err := gatherPartition(ctx, dir, p)
		if os.IsNotExist(err) {
			continue // deleted while we looked
		}
		if p.Topic == kafkadir.ClusterMetadata {
			info.State = "metadata" // KRaft's
		}
		if err != nil {
			info.Error = err.Error()
		}
		if err != nil || len(info.Damage) > 0 {
			i.faults++
		}
		i.Bytes += info.Bytes
		i.Partitions = append(i.Partitions, info)
	}
	slices.SortStableFunc(i.Partitions, func(a, b partitionInfo) int { return cmp.Compare(a.Topic, b.Topic) })
	return i, ctx.Err()
}

// gatherPartition opens what the manager has not: it serves live ones only.
func gatherPartition(ctx context.Context, dir string, p log.Partition) (partitionInfo, error) {
	i := partitionInfo{Name: p.Name, Topic: p.Topic, Partition: p.Number, State: p.State.String(),
		LeaderEpochs: []epochInfo{}, OpenTransactions: []openTxn{}, Repairs: []string{}, Damage: []string{}}
	if p.TopicID != (log.TopicID{}) {
		i.TopicID = p.TopicID.String()
	}
	l := p.Log
	if p.Err != nil {
		return i, p.Err
	}
	if l == nil {
		var err error
		if l, err = log.Open(ctx, filepath.Join(dir, p.Name), log.Options{Mode: log.ReadOnly}); err != nil {
			return i, err
		}
		defer l.Close()
	}
	of := gatherInfo(l)
	i.LogStart, i.LastStable, i.HighWatermark, i.End = of.LogStart, l.LastStable(), of.HighWatermark, of.End
	i.Segments, i.Bytes, i.Repairs, i.Damage = len(of.Segments), of.Bytes, of.Repairs, of.Damage
	for _, s := range of.Segments {
		if i.From == nil {
			i.From = s.From
		}
		if s.To != nil && (i.To == nil || s.To.After(*i.To)) {
			i.To = s.To
		}
	}
	for _, e := range l.LeaderEpochs() {
		i.LeaderEpochs = append(i.LeaderEpochs, epochInfo{e.Epoch, e.Start})
	}
	for _, p := range l.Producers() {
		i.Producers++
		if p.TxnFirst >= 0 {
			i.OpenTransactions = append(i.OpenTransactions, openTxn{p.ID, p.TxnFirst})
		}
	}
	slices.SortFunc(i.OpenTransactions, func(a, b openTxn) int { return cmp.Compare(a.First, b.First) })
	return i, nil
}
