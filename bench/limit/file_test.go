package limit

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/seglog/seglog/internal/vfs"
)

// A file is mapped, and its pages are there: a store waits for nothing.
type file struct {
	file vfs.File
	mem  []byte

	mu   sync.Mutex
	end  int // bytes
	next uint64

	// Group commit: whoever finds nobody syncing syncs what all have appended.
	moved   *sync.Cond
	durable int
	waiting int
	syncing bool
	failed  error
}

// makeFile makes a file of size bytes below dir. A clean one has nothing to be
// synced, and so its pages fault once more when they are stored to.
func makeFile(b *testing.B, dir string, size int, clean bool) *file {
	b.Helper()
	f, err := vfs.OS.OpenFile(filepath.Join(dir, "frames"), os.O_RDWR|os.O_CREATE, 0o644)
	if err == nil {
		err = f.Allocate(0, int64(size))
	}
	// Zeros written in small pieces: extents that are written, and small folios,
	// which a sync writes whole.
	for zeros, at := make([]byte, 16<<10), 0; err == nil && at < size; at += len(zeros) {
		_, err = f.WriteAt(zeros[:min(len(zeros), size-at)], int64(at))
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		b.Fatal(err)
	}
	m, err := f.Map(int64(size), true)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(m.Unmap(), f.Close()); err != nil {
			b.Error(err)
		}
	})
	mem := m.Bytes()
	for at := 0; at < len(mem); at += 4096 {
		mem[at] = 0 // maps the page for writing
	}
	if clean {
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	made := &file{file: f, mem: mem}
	made.moved = sync.NewCond(&made.mu)
	return made
}

// append copies a frame behind the others, with its checksum computed.
func (f *file) append(frame []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.appendLocked(frame)
}

func (f *file) appendLocked(frame []byte) error {
	if f.end+len(frame) > len(f.mem) {
		return errors.New("the file is full")
	}
	sum(frame)
	at := f.mem[f.end:]
	copy(at, frame)
	binary.LittleEndian.PutUint64(at, f.next)
	f.next++
	f.end += len(frame)
	return nil
}

// appendSync returns when the frame is on the device.
func (f *file) appendSync(frame []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.appendLocked(frame); err != nil {
		return err
	}
	f.waiting++
	defer func() { f.waiting-- }()
	for end := f.end; f.durable < end && f.failed == nil; {
		if f.syncing {
			f.moved.Wait()
			continue
		}
		f.syncing = true
		if f.waiting > 1 {
			f.mu.Unlock()
			runtime.Gosched() // for others to append before the end is taken
			f.mu.Lock()
		}
		upTo := f.end
		f.mu.Unlock()
		err := f.file.Sync()
		f.mu.Lock()
		f.syncing = false
		if err != nil {
			f.failed = err
		} else {
			f.durable = upTo
		}
		f.moved.Broadcast()
	}
	return f.failed
}

// recycle begins the file anew.
func (f *file) recycle() error {
	f.end, f.durable, f.next = 0, 0, 0
	return nil
}

// frames are the bytes appended.
func (f *file) frames() []byte { return f.mem[:f.end] }

// held counts the records.
func (f *file) held() (int64, error) {
	records, _, err := walk(f.frames())
	return records, err
}
