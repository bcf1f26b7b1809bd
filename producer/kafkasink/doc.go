// Package kafkasink stores a producer's batches in a Kafka cluster, over
// franz-go's connections.
//
//	sink, err := kafkasink.New(kgo.SeedBrokers("localhost:9092"))
//	defer sink.Close()
//	p, err := producer.New(sink, producer.Options{})
//
// The client's own producer is not used, so that its settings for producing mean
// nothing here; those for connections, TLS and SASL do.
package kafkasink
