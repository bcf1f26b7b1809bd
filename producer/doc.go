// Package producer is Kafka's producer in Go: records in, batches out.
//
//	p, err := producer.New(sink, producer.Options{})
//	future := p.Send(ctx, producer.Record{Topic: "orders", Key: k, Value: v})
//	delivery, err := future.Wait(ctx)
//	err = p.Close(ctx)
//
// Where the batches go is a [Sink]: one log or many (package logsink), a Kafka
// cluster (package kafkasink), or one of your own.
//
// # The way of a record
//
// Send hands the record to the interceptors, waits for the topic's metadata if
// it is not known yet, chooses a partition, and adds the record to the youngest
// batch of that partition's queue (the accumulator). A batch that is full is
// closed and a new one begun, with memory from a pool of BufferBytes; where the
// pool is exhausted Send waits, first come, first served, MaxBlock at most.
//
// One goroutine, the sender, takes the oldest batch of each partition that is
// ready (it is full, it has waited Linger, memory is short, somebody flushes or
// closes), gives it its sequence number, and hands requests to the sink: at most
// MaxInFlight for each of its nodes.
//
// # Order and duplicates
//
// With idempotence (KIP-98), the default, each batch has a producer id, an
// epoch and a sequence number by which a log refuses duplicates and gaps, so
// that every record is stored once, in the order of Send for each partition,
// whatever is retried. Without it a retry may store a batch twice, and where
// MaxInFlight is above 1, behind a later one.
//
// A record whose DeliveryTimeout has passed fails with ErrTimeout. If it had
// been sent, nobody knows whether it was stored; the producer's epoch is raised
// before anything else goes to that partition.
//
// # Goroutines and locks
//
// All methods may be called by any number of goroutines. A Producer owns two,
// the sender and the one that runs callbacks, and one more for each metadata or
// producer id request while it is out; Close ends them all.
//
//	queue.mu   one partition's batches
//	acc.mu     which partitions have batches, which batches are not done
//	pool.mu    memory
//
// None of them is held while another is taken, except acc.mu inside queue.mu.
//
// Names and rules are those of Kafka's producer; the setting each one is for
// is named beside it.
package producer
