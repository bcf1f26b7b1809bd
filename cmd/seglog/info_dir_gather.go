package main

import (
	"cmp"
	"context"
	"io"
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
	Name          string     `json:"name"` // of the directory
	Topic         string     `json:"topic"`
	Partition     int32      `json:"partition"`
	State         string     `json:"state"`
	TopicID       string     `json:"topic_id,omitempty"`
	LogStart      int64      `json:"log_start"`
	HighWatermark int64      `json:"high_watermark"`
	End           int64      `json:"end"`
	Segments      int        `json:"segments"`
	Bytes         int64      `json:"bytes"`
	From          *time.Time `json:"from"` // of the first batch
	To            *time.Time `json:"to"`   // the largest
	stateInfo
	Repairs []string `json:"repairs"`
	Damage  []string `json:"damage"`
	Error   string   `json:"error,omitempty"`
}

func gatherDir(ctx context.Context, dir string, names []kafkadir.Name, stderr io.Writer) (*dirInfo, error) {
	shown := &scanning{stderr: stderr}
	defer shown.end()
	for _, n := range names {
		shown.total += logBytes(filepath.Join(dir, n.String()))
	}
	o := log.Options{Mode: log.ReadOnly, Trace: shown.trace()}
	m, err := log.OpenManager(ctx, dir, log.ManagerOptions{Log: o})
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
		info, err := gatherPartition(ctx, dir, p, o)
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
func gatherPartition(ctx context.Context, dir string, p log.Partition, o log.Options) (partitionInfo, error) {
	i := partitionInfo{Name: p.Name, Topic: p.Topic, Partition: p.Number, State: p.State.String(),
		stateInfo: stateInfo{LeaderEpochs: []epochInfo{}, OpenTransactions: []openTxn{}}, Repairs: []string{}, Damage: []string{}}
	if p.TopicID != (log.TopicID{}) {
		i.TopicID = p.TopicID.String()
	}
	l := p.Log
	if p.Err != nil {
		return i, p.Err
	}
	if l == nil {
		var err error
		if l, err = log.Open(ctx, filepath.Join(dir, p.Name), o); err != nil {
			return i, err
		}
		defer l.Close()
	}
	of := gatherInfo(l, false)
	i.LogStart, i.HighWatermark, i.End, i.stateInfo = of.LogStart, of.HighWatermark, of.End, of.stateInfo
	i.ProducerStates = nil
	i.Segments, i.Bytes, i.Repairs, i.Damage = len(of.Segments), of.Bytes, of.Repairs, of.Damage
	for _, s := range of.Segments {
		if i.From == nil {
			i.From = s.From
		}
		if s.To != nil && (i.To == nil || s.To.After(*i.To)) {
			i.To = s.To
		}
	}
	return i, nil
}
