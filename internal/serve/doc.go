// Package serve runs "seglog serve" as a process, for what its broker is held against
// or measured of. package apache does the same for Kafka's. Nothing that is built into
// seglog imports it.
package serve
