package limit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/internal/vfs"
)

// written is a file of Records records of 100 bytes in frames of count.
func written(b *testing.B, count int) *file {
	b.Helper()
	frame := ready(count, 100)
	f := makeFile(b, b.TempDir(), workload.Records()/count*len(frame), false)
	for range workload.Records() / count {
		if err := f.append(frame); err != nil {
			b.Fatal(err)
		}
	}
	return f
}

// BenchmarkScan walks frames in mapped memory, verifies each and looks at each
// record.
func BenchmarkScan(b *testing.B) {
	for _, count := range []int{1, 100} {
		b.Run(fmt.Sprintf("100B/batch=%d/borrowed", count), func(b *testing.B) {
			f := written(b, count)
			workload.Scan(b, 100, func() (int64, int64, error) { return walk(f.frames()) })
		})
		b.Run(fmt.Sprintf("100B/batch=%d/owned", count), func(b *testing.B) {
			f := written(b, count)
			workload.Scan(b, 100, func() (int64, int64, error) { return walkCopied(f.frames()) })
		})
	}
}

// walkCopied copies each frame to memory of its own before it is verified.
func walkCopied(b []byte) (records, bytes int64, err error) {
	for len(b) >= headerSize {
		n := min(12+int(binary.LittleEndian.Uint32(b[8:])), len(b))
		own := append([]byte(nil), b[:n]...)
		r, y, err := walk(own)
		if err != nil {
			return 0, 0, err
		}
		records, bytes, b = records+r, bytes+y, b[n:]
	}
	return records, bytes, nil
}

// BenchmarkRead looks the position of a frame up in an index of all, which is as
// much as depends on one another: index, frame, copy.
func BenchmarkRead(b *testing.B) {
	f, positions := indexed(b)
	workload.Read(b, 100, func(i int64) ([]byte, error) {
		frame, err := whole(f.frames()[positions[i]:])
		if err != nil || binary.LittleEndian.Uint64(frame) != uint64(i) {
			return nil, errors.Join(err, errFrame)
		}
		return append([]byte(nil), frame[headerSize+recordSize:]...), nil
	})
}

// BenchmarkOffsetAt goes to a time by interpolation, which with times that are
// evenly spaced is one probe, and to the frame it is of.
func BenchmarkOffsetAt(b *testing.B) {
	f, positions := indexed(b)
	first := workload.Clock.UnixMilli()
	times := make([]int64, len(positions))
	for i := range times {
		times[i] = first + int64(i)
	}
	last := times[len(times)-1]
	workload.ReadAt(b, func(i int64) (int64, error) {
		want := workload.Clock.Add(time.Duration(i) * time.Millisecond).UnixMilli()
		guess := int64(float64(want-first) / float64(last-first) * float64(len(times)-1))
		for guess > 0 && times[guess] > want {
			guess--
		}
		for times[guess] < want {
			guess++
		}
		frame, err := whole(f.frames()[positions[guess]:])
		if err != nil {
			return 0, err
		}
		return int64(binary.LittleEndian.Uint64(frame)), nil
	})
}

func indexed(b *testing.B) (*file, []uint32) {
	b.Helper()
	f := written(b, 1)
	positions := make([]uint32, 0, workload.Records())
	for at := 0; at < f.end; {
		frame, err := whole(f.frames()[at:])
		if err != nil {
			b.Fatal(err)
		}
		positions = append(positions, uint32(at))
		at += len(frame)
	}
	return f, positions
}

// BenchmarkTail hands something to a goroutine that sleeps, by a channel.
func BenchmarkTail(b *testing.B) { handOff(b) }

// BenchmarkQueueLatency is the same: no message is there sooner.
func BenchmarkQueueLatency(b *testing.B) { b.Run("100B", handOff) }

func handOff(b *testing.B) {
	handed, received := make(chan struct{}), make(chan time.Time, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-handed:
				received <- time.Now()
			case <-ctx.Done():
				return
			}
		}
	}()
	workload.Woken(b, func() error { handed <- struct{}{}; return nil }, received)
	cancel()
	<-ended
}

// BenchmarkOpen opens and maps a file of frames, and for one that a process left
// that was killed, verifies all of it.
func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"killed/checkpoint=off", "clean"} {
		b.Run(name, func(b *testing.B) {
			frame := ready(64, 1024)
			size := workload.OpenBytes() / 1024 / 64 * len(frame)
			path := filepath.Join(b.TempDir(), "frames")
			fill(b, path, frame, size)
			b.ReportAllocs()
			for b.Loop() {
				f, err := vfs.OS.OpenFile(path, os.O_RDWR, 0)
				if err != nil {
					b.Fatal(err)
				}
				m, err := f.Map(int64(size), false)
				if err != nil {
					b.Fatal(err)
				}
				if name == "clean" {
					_, err = whole(m.Bytes())
				} else if records, _, e := walk(m.Bytes()); e != nil || records != int64(workload.OpenBytes()/1024) {
					err = errors.Join(e, errFrame)
				}
				if err := errors.Join(err, m.Unmap(), f.Close()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func fill(b *testing.B, path string, frame []byte, size int) {
	b.Helper()
	f, err := vfs.OS.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	for at := 0; err == nil && at < size; at += len(frame) {
		_, err = f.WriteAt(frame, int64(at))
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
}
