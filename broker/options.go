package broker

import (
	"log/slog"

	"github.com/seglog/seglog/log"
)

// Options are a broker's settings. The zero value works.
type Options struct {
	// Config is the broker's configuration by Kafka's keys, as server.properties
	// has it: see BrokerSettings. A key that is not known is left out with a
	// warning, a value that is none of its key fails Open.
	Config map[string]string
	// Logger is told what was recovered and what went wrong; nil discards.
	Logger *slog.Logger
	// Trace is told of what happens to the logs.
	Trace log.Trace
	// Env is the world around the logs: the system's unless set.
	Env log.Env
}
