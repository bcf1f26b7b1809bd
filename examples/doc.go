// Package examples holds one program for each question a user asks; go run
// ./examples/NAME runs it. Their test builds and runs them all.
//
//	tour       what does it do? (real input, kill -9, recovery, lookups)
//	embed      how do I open, append and read?
//	durable    how do many goroutines append durably at one sync's price?
//	tail       how do I follow what is appended?
//	bytime     how do I read from a moment on?
//	retention  how do I keep it from growing for ever?
//	compaction how do I keep the newest record of each key alone?
//	borrow     how do I send records to a socket without copying them?
//	webhook    how do I send events to somebody who is not always there?
//	shipper    how do I buffer what a network does not take, on a bounded disk?
//	jobs       how do workers take jobs by priority?
//	producer   how do I send single records and have them batched?
//	consumer   how do members of a group share a topic, in the broker's process?
//	readkafka  how do I read a partition that Kafka wrote?
package examples
