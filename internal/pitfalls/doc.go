// Package pitfalls holds docs/PITFALLS.md to the tests it names. It is all
// tests.
package pitfalls
