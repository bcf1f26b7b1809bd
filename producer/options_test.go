package producer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The defaults are those of Kafka 4.
func TestDefaults(t *testing.T) {
	o, err := Options{}.withDefaults()
	require.NoError(t, err)
	o.Logger = nil
	require.Equal(t, Options{
		Acks: AcksAll, Idempotence: IdempotenceOn, BatchBytes: 16384, Linger: 5 * time.Millisecond, BufferBytes: 33554432,
		MaxBlock: 60 * time.Second, MaxRequestBytes: 1048576, MaxInFlight: 5, RequestTimeout: 30 * time.Second,
		DeliveryTimeout: 120 * time.Second, RetryBackoff: 100 * time.Millisecond, RetryBackoffMax: time.Second,
		MetadataMaxAge: 5 * time.Minute, Partitioner: ByKey{},
	}, o)
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"Acks":            {Acks: 3},
		"Idempotence":     {Idempotence: 9},
		"IdempotenceOn":   {Idempotence: IdempotenceOn, Acks: AcksLeader},
		"MaxInFlight":     {Idempotence: IdempotenceOn, MaxInFlight: 6},
		"Compression":     {Compression: 5},
		"negative":        {BatchBytes: -1},
		"duration":        {MaxBlock: -1},
		"DeliveryTimeout": {DeliveryTimeout: time.Second},
		"RetryBackoffMax": {RetryBackoff: time.Second, RetryBackoffMax: time.Millisecond},
		"BatchBytes":      {BatchBytes: 2000, BufferBytes: 1000},
	} {
		_, err := New(nil, o)
		require.ErrorContains(t, err, name)
	}
	for name, o := range map[string]Options{"acks": {Acks: AcksLeader}, "in flight": {MaxInFlight: 6}} {
		o, err := o.withDefaults()
		require.NoError(t, err)
		require.Equal(t, IdempotenceOff, o.Idempotence, name)
	}
}
