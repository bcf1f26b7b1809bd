package segment

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// The file name endings of a segment's parts, after the 20 digits of its base.
const (
	LogSuffix       = ".log"
	IndexSuffix     = ".index"
	TimeIndexSuffix = ".timeindex"
	TxnIndexSuffix  = ".txnindex"
	SnapshotSuffix  = ".snapshot"
)

// The endings Kafka adds behind those while it replaces or deletes a file.
const (
	CleanedSuffix = ".cleaned" // being written, of no use yet
	SwapSuffix    = ".swap"    // complete, about to replace
	DeletedSuffix = ".deleted" // to be unlinked
)

// Name is the file name of a part of the segment based at base.
func Name(base int64, suffix string) string {
	return fmt.Sprintf("%020d%s", base, suffix)
}

// ParseName splits a segment's file name into its base offset and the suffix
// behind it (".log", ".index.swap", ...); ok is false for other names.
func ParseName(name string) (base int64, suffix string, ok bool) {
	digits, rest, found := strings.Cut(name, ".")
	if !found || len(digits) != 20 {
		return 0, "", false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || base < 0 {
		return 0, "", false
	}
	return base, "." + rest, true
}

func path(dir string, base int64, suffix string) string {
	return filepath.Join(dir, Name(base, suffix))
}
