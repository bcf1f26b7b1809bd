// Package javahash is the order of Java's hash tables, and what it comes from:
// Kafka picks partitions of groups by hash codes, and breaks ties by the order
// in which a HashMap is walked.
package javahash

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
)

// String is the hash code of a java.lang.String, over UTF-16 units.
func String(s string) int32 {
	var h int32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}

// Compare is java.lang.String's compareTo, by UTF-16 units: a character beyond
// the basic plane comes before U+E000.
func Compare(a, b string) int {
	if ascii(a) && ascii(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Bucket is where a java.util.HashMap with so many entries, made without a
// capacity, has a hash code.
func Bucket(hash int32, entries int) uint32 {
	size := uint32(16)
	for entries > int(size)/4*3 {
		size *= 2
	}
	return (uint32(hash) ^ uint32(hash)>>16) & (size - 1)
}

// Order is the order in which a java.util.HashMap is walked into which these
// different keys were put in theirs. (Not if eight keys are in one bucket: there
// Java grows its table early, or makes a tree.)
func Order(keys []string) []string {
	entries := len(keys)
	keys = slices.Clone(keys)
	slices.SortStableFunc(keys, func(a, b string) int {
		return cmp.Compare(Bucket(String(a), entries), Bucket(String(b), entries))
	})
	return keys
}
