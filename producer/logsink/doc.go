// Package logsink stores a producer's batches in logs of this process.
//
//	sink := logsink.New(func(topic string) ([]*log.Log, error) { ... })
//	p, err := producer.New(sink, producer.Options{})
//
// With AcksAll a record is acknowledged when it survives a loss of power, with
// AcksLeader and AcksNone when it survives the process. Each log counts as a node
// of its own: it has MaxInFlight requests, which share syncs.
package logsink
