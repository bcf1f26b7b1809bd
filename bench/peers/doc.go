// Package peers does the workloads of package bench with other engines, each
// through its public API and in the fastest setting in which it still does what
// the workload says. See README.md.
package peers
