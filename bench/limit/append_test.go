package limit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seglog/seglog/bench/workload"
)

// What is appended between two recyclings: more than caches hold, where nothing
// waits for the device.
const (
	window     = 64 << 20
	syncWindow = 16 << 20
)

// store appends to a file of room for what workload appends between two
// recyclings.
func store(b *testing.B, count, size int) workload.Store {
	b.Helper()
	return storeIn(b, b.TempDir(), count, size, window, func(f *file, frame []byte) error { return f.append(frame) })
}

// syncStore appends durably single records to a file that is on the device, so
// that a sync has nothing to write but them.
func syncStore(b *testing.B, dir string, size int) workload.Store {
	b.Helper()
	return storeIn(b, dir, 1, size, syncWindow, func(f *file, frame []byte) error { return f.appendSync(frame) })
}

func storeIn(b *testing.B, dir string, count, size, window int, appends func(f *file, frame []byte) error) workload.Store {
	b.Helper()
	frame := ready(count, size)
	const over = 8 * 64 // what AppendParallel appends beyond, at most
	room := (window/(count*size) + over) * len(frame)
	f := makeFile(b, dir, room, window == syncWindow)
	return workload.Store{
		Append:  func() error { return appends(f, frame) },
		Recycle: f.recycle,
		Held:    f.held,
		Count:   count,
		Size:    size,
		Window:  window,
	}
}

// BenchmarkAppend copies ready frames to mapped memory, with the checksum
// computed and nothing else done.
func BenchmarkAppend(b *testing.B) {
	for _, bytes := range []int{100, 1 << 10, 16 << 10} {
		for _, count := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/batch=%d/sync=none", workload.Size(bytes), count), func(b *testing.B) {
				workload.Append(b, store(b, count, bytes))
			})
		}
	}
}

// BenchmarkAppendParallel does the same from several goroutines, one at a time.
// They all sum the same frame, which they find as they left it.
func BenchmarkAppendParallel(b *testing.B) {
	for _, writers := range []int{2, 8} {
		b.Run(fmt.Sprintf("100B/writers=%d", writers), func(b *testing.B) {
			workload.AppendParallel(b, store(b, 1, 100), writers, false)
		})
	}
}

// BenchmarkAppendSync appends ready frames from many goroutines, which share
// syncs of the file.
func BenchmarkAppendSync(b *testing.B) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("100B/writers=%d", writers), func(b *testing.B) {
			workload.AppendParallel(b, syncStore(b, b.TempDir(), 100), writers, true)
		})
	}
}

// BenchmarkAppendSyncJournaled is the same on a file system with a journal.
func BenchmarkAppendSyncJournaled(b *testing.B) {
	b.Run("4KiB/writers=1", func(b *testing.B) {
		workload.AppendParallel(b, syncStore(b, workload.Journaled(b), 4<<10), 1, true)
	})
}

// BenchmarkQueuePush pushes as BenchmarkAppend and BenchmarkAppendSync append.
func BenchmarkQueuePush(b *testing.B) {
	b.Run("100B/durable=false/pushers=1", func(b *testing.B) {
		workload.AppendParallel(b, store(b, 1, 100), 1, false)
	})
	for _, pushers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("100B/durable=true/pushers=%d", pushers), func(b *testing.B) {
			workload.AppendParallel(b, syncStore(b, b.TempDir(), 100), pushers, true)
		})
	}
}

// BenchmarkMemcpy copies in the first level cache, in the last and from memory.
func BenchmarkMemcpy(b *testing.B) {
	for _, kib := range []int{16, 4 << 10, 128 << 10} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			from := slices.Repeat([]byte{1}, kib<<10)
			to := make([]byte, len(from))
			b.SetBytes(int64(len(from)))
			for b.Loop() {
				copy(to, from)
			}
		})
	}
}

// BenchmarkChecksum is CRC-32C of a record's bytes.
func BenchmarkChecksum(b *testing.B) {
	for _, bytes := range []int{100, 1 << 10, 16 << 10} {
		b.Run(workload.Size(bytes), func(b *testing.B) {
			frame := ready(1, bytes)
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				sum(frame)
			}
		})
	}
}
