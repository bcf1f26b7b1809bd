// Package kafka is the Kafka protocol on a listener: any Kafka client works with
// a broker of package broker.
//
//	l, err := net.Listen("tcp", "127.0.0.1:9092")
//	err = kafka.Serve(ctx, l, b)
//
// There is one file for each API, named after it; its versions are in the table
// in apis.go, and only what is in the table is advertised. Requests and answers
// are encoded by franz-go's package kmsg.
//
// # Connections
//
// Each is a goroutine that reads a request, serves it and writes the answer, one
// after the other, so that answers come in the order of the requests and the
// batches of one producer in theirs. While a fetch, a join or a sync waits another
// goroutine watches for the end of the connection. A request that cannot be understood, in
// a version that is not served or larger than socket.request.max.bytes ends the
// connection: there is no answer to give to it.
//
// # Copies
//
// The batches of a fetch are handed to the socket from the log's mapping
// (writev). The batches of a produce request are copied once, from the buffer
// they were received in to the log's mapping, unless they are compressed anew.
//
// # Memory
//
// A request's buffer grows with the bytes that arrive, not with the size that is
// claimed. All together take queued.max.request.bytes at most; who needs more
// waits until others are served. Decoded, a request of many small elements is
// larger than its bytes, so large ones are decoded one at a time, and only
// produce requests may be large.
package kafka
