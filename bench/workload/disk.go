package workload

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Disk reports what the files below dir take, beyond the payload, for each of
// so many records of size bytes.
func Disk(b *testing.B, dir string, records, size int) {
	b.Helper()
	used := int64(0)
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		used += allocated(info)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	if used < int64(records) { // whatever compresses, no record is nothing
		b.Fatalf("%d records take %d bytes", records, used)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(used)/float64(records)-float64(size), "overhead-B/record")
}

// Journaled is a directory of a file system with a journal: the one that
// SEGLOG_BENCH_JOURNALED names. Without one the benchmark is skipped.
func Journaled(b *testing.B) string {
	b.Helper()
	below := os.Getenv("SEGLOG_BENCH_JOURNALED")
	if below == "" {
		b.Skip("SEGLOG_BENCH_JOURNALED names no directory of a journaled file system")
	}
	dir, err := os.MkdirTemp(below, "bench")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
