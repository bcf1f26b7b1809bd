// Package kafka holds seglog against Apache Kafka itself: Kafka's tools, broker
// and consumer over what the engine wrote, and the engine over what Kafka's
// broker wrote. It is tests only, in a module of its own, so that the engine
// depends on nothing of it. README.md says how to run it.
package kafka
