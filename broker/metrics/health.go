package metrics

import (
	"encoding/json"
	"net/http"
)

// health is what /healthz answers.
type health struct {
	// Status is "opening", "serving", "failed" or "closing".
	Status string `json:"status"`
	// Reasons are why it is failed.
	Reasons []string `json:"reasons,omitempty"`
	// Offline are partitions that could not be opened while others are served.
	Offline []string `json:"offline,omitempty"`
}

// maxReasons is how many partitions an answer names.
const maxReasons = 20

// Health answers 200 while the broker serves and 503 while it is opened or
// closed, and when its directory is gone or a log has failed, which another
// opening may mend. A partition that could not be opened is told of and is no
// reason for 503: the others are served, and opening again would find the same.
func (m *Metrics) Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := m.health()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if h.Status != "serving" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(h) // who asked has gone
	})
}

func (m *Metrics) health() health {
	b := m.b.Load()
	switch {
	case m.state.Load() == closing:
		return health{Status: "closing"}
	case m.state.Load() == opening || b == nil:
		return health{Status: "opening"}
	}
	h := health{Status: "serving"}
	faults := b.Faults()
	if faults.Directory != nil {
		h.Reasons = append(h.Reasons, faults.Directory.Error())
	}
	for _, f := range faults.Failed[:min(len(faults.Failed), maxReasons)] {
		h.Reasons = append(h.Reasons, f.String())
	}
	if h.Reasons != nil {
		h.Status = "failed"
	}
	for _, f := range faults.Offline[:min(len(faults.Offline), maxReasons)] {
		h.Offline = append(h.Offline, f.String())
	}
	return h
}
