// Package imports holds the module to its own map: which package may import
// which, and what the engine must never call. It is all tests.
package imports
