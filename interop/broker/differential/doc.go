// Package differential holds the broker against Apache Kafka by conversations
// that a seed makes up: several clients produce, fetch in sessions, commit, join
// groups and leave them, make topics and delete them, rightly and wrongly. Both
// brokers are told the same, over connections of their own, and what they answer
// has to be the same.
//
// A conversation is a list of steps, each one request of one client. What a
// request says of things that a broker named (the id of a member, a producer, a
// session, a topic) is filled in when it is sent, for each broker with its own
// names. Answers are compared as lines, in which such names are replaced by
// numbers in the order of their appearance, so that it still counts which of them
// are the same.
//
// Answers may have to wait for other requests (joins, syncs, fetches). After each
// step both brokers are given time until the same clients have an answer and
// nothing more happens.
//
//	go test ./differential -run TestConversations -seed 0 -conversations 500 -v
//	go test ./differential -run TestConversations -seed 17 -conversations 1 -v
//
// A difference is shown with the shortest conversation that still has it. Those
// that are kept on purpose are in rules.go, by their row in
// docs/KAFKA-DIFFERENCES.md.
package differential
