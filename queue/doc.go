// Package queue is a durable queue in a directory, for the goroutines of one
// process.
//
//	q, err := queue.Open(ctx, dir, queue.Options{})
//	_, err = q.Push(ctx, queue.Message{Value: []byte("hello")})
//	for m, err := range q.Consume(ctx, "mailer") {
//		...
//		err = m.Ack()
//	}
//
// The directory is a log (package log) whose records are the messages: seglog
// read shows it, Kafka's tools read it. What consumers have done is in a small log
// in its directory consumers, in which the newest record of a key counts, and messages
// given up are a queue in its directory dead.
//
// # Consumers
//
// A consumer is a name with a place in the queue of its own: each gets every
// message from where it began, which is the oldest there is. Any number of
// workers call Next with one name and share its messages. A message is out for
// Visibility; acknowledged by then it is done, else it is delivered again. With
// ByKey messages of one key are delivered one at a time in the order of their
// pushes, whatever has to be delivered again; without, and of messages without a
// key, the order is that of the pushes except where something is delivered
// again or delayed.
//
// # What is delivered twice
//
// A message is delivered at least once, and again only if
//
//   - it was not acknowledged within Visibility, or was given back by Nack,
//   - or the process ended, or Close was called, before its Ack returned nil,
//   - or Ack returned an error, of which it is unknown whether it held,
//   - or the machine lost power, and Durability was not Durable,
//   - or Seek went back.
//
// What Push has returned for is delivered, unless the machine loses power and
// Durability was not Durable, or a limit drops it. A Push that returned an error
// may have pushed nevertheless only if a sync failed or its ctx ended.
//
// How often a message was delivered is known exactly within one opening. After
// the process died without Close it may be counted once more than it was, never
// less: a message that kills the process is given up in the end, too.
//
// # Goroutines and locks
//
// All methods may be called concurrently. Open starts one goroutine, for upkeep,
// and Close ends it. Locks, in the order in which they are taken:
//
//	Queue.mu     which consumers there are
//	consumer.mu  one consumer's state; held while what it does is appended to the
//	             log of places, so that records are in the order of what they say
//	dead.mu      the queue of the dead letters
//
// None is held while a sync, a message or room is waited for, except that a
// message is given up under its consumer's.
package queue
