// Command clients holds the broker, as "seglog serve" runs it, to the clients
// that people have: each one produces, consumes, takes part in groups,
// administers topics, and goes on when the broker is killed.
//
//	go run .               all clients
//	go run . -run kcat     those whose name matches
//	go run . -check killed those checks
//	go run . -p 1          one client after the other, two at once otherwise
//	go run . -ci           the Go clients and kcat, on little data
//
// What clients need besides their languages is installed in the user's cache folder.
// Apache Kafka's own client and tools come by Maven (package internal/apache).
//
// It prints a table, a client for each line. "n/a" is what the client cannot do.
// A client whose runtime is missing or cannot be installed is a row SKIPPED that
// says why. It ends with 1 if a check failed.
//
// What a client did is judged by another one, franz-go's kgo and kadm, and by what
// the check itself knows. A client is either Go code here (franz.go, sarama.go,
// segmentio.go, confluent.go), a tool that is called (kcat.go, tools.go), or a
// program in its own language in drivers/, which speaks this:
//
//	PROGRAM ADDRESS produce TOPIC ACKS CODEC FROM TO   "N" for each number acknowledged
//	PROGRAM ADDRESS consume TOPIC PARTITIONS TIME      "PARTITION OFFSET VALUE" for each record
//	PROGRAM ADDRESS member TOPIC GROUP                 the same, until standard input ends
//	PROGRAM ADDRESS create TOPIC PARTITIONS KEY=VALUE
//	PROGRAM ADDRESS describe TOPIC                     "PARTITIONS"
//	PROGRAM ADDRESS configs TOPIC                      "KEY=VALUE" for each
//	PROGRAM ADDRESS alter TOPIC KEY=VALUE
//	PROGRAM ADDRESS delete TOPIC
//
// ACKS is 0, 1, all or idempotent, TIME in milliseconds or -2 for the first record.
// consume runs until it is ended. It exits with 0, with 3 for what it cannot do, or
// with another status and the reason on standard error.
package main
