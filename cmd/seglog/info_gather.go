package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/seglog/seglog/log"
)

// logInfo is what info tells, in the form of its JSON.
type logInfo struct {
	Dir           string `json:"dir"`
	LogStart      int64  `json:"log_start"`
	Durable       int64  `json:"durable"`
	HighWatermark int64  `json:"high_watermark"`
	End           int64  `json:"end"`
	stateInfo
	Bytes    int64         `json:"bytes"`
	Clean    bool          `json:"clean"`
	Foreign  bool          `json:"foreign"`
	Segments []segmentInfo `json:"segments"`
	Repairs  []string      `json:"repairs"` // by the next open for writing
	Notes    []string      `json:"notes"`
	Damage   []string      `json:"damage"`
}

type segmentInfo struct {
	Base           int64      `json:"base"`
	First          int64      `json:"first"` // readable: Base, or the log start within
	Next           int64      `json:"next"`
	Bytes          int64      `json:"bytes"`
	IndexBytes     int64      `json:"index_bytes"`
	TimeIndexBytes int64      `json:"timeindex_bytes"`
	From           *time.Time `json:"from"` // of the first batch
	To             *time.Time `json:"to"`   // the largest
	Seal           string     `json:"seal,omitempty"`
}

// gatherInfo tells of each producer if it is to, or they are few.
func gatherInfo(l *log.Log, allProducers bool) *logInfo {
	r := l.Recovery()
	i := &logInfo{
		Dir: l.Dir(), LogStart: r.LogStart, Durable: r.RecoveryPoint, HighWatermark: l.HighWatermark(), End: r.End,
		Clean: r.Clean, Foreign: r.Foreign,
		Segments: []segmentInfo{}, Repairs: []string{}, Notes: []string{}, Damage: []string{},
	}
	if noted, ok := notedHighWatermark(l.Dir()); ok && i.Foreign {
		i.HighWatermark = min(max(noted, i.LogStart), i.End)
	}
	i.stateInfo = gatherState(l, i.HighWatermark, allProducers)
	for _, s := range r.Segments {
		info := segmentInfo{
			Base: s.Base, First: min(max(s.Base, r.LogStart), s.Next), Next: s.Next, Bytes: s.Size,
			IndexBytes: s.IndexBytes, TimeIndexBytes: s.TimeBytes,
			From: moment(s.FirstTime), To: moment(s.MaxTime),
		}
		if s.HasSeal {
			info.Seal = fmt.Sprintf("%016x", s.Seal)
		}
		i.Segments = append(i.Segments, info)
		i.Bytes += s.Size
	}
	for _, a := range r.Actions {
		i.Repairs = append(i.Repairs, a.String())
	}
	if r.Note != "" {
		i.Notes = append(i.Notes, r.Note)
	}
	for _, d := range r.Damage {
		i.Damage = append(i.Damage, whereDamaged(d))
	}
	return i
}

// moment is a time in ms, nil for none.
func moment(ms int64) *time.Time {
	if ms < 0 {
		return nil
	}
	t := time.UnixMilli(ms).UTC()
	return &t
}

func (i *logInfo) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(i)
}
