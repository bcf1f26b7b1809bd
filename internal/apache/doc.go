// Package apache runs Apache Kafka itself, for what is held against it or measured
// beside it: its broker on loopback, its tools, and classes of ours that call its
// client. Nothing that is built into seglog imports it.
//
// Maven resolves what pom.xml says, once; it is kept in the user's cache folder.
// Where there is no JDK of 17 or later, or Maven is needed and is not there, Install
// returns ErrMissing, which whoever skips something for it has to print.
package apache
