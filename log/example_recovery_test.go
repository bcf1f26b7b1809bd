package log_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seglog/seglog/log"
)

// Recovery tells what Open found and did. Here a power cut has torn the last
// batch, of which only the first bytes came to the disk.
func ExampleLog_Recovery() {
	l, done := openExample(log.Options{})
	defer done()
	ctx := context.Background()
	appendExample(l, "durable")
	if err := l.Sync(ctx); err != nil {
		fmt.Println(err)
	}
	appendExample(l, "torn")
	torn := copyAsAfterPowerCut(l, 100)
	defer os.RemoveAll(torn)

	after, err := log.Open(ctx, torn, log.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer after.Close()
	r := after.Recovery()
	fmt.Println("closed cleanly:", r.Clean)
	for _, a := range r.Actions {
		fmt.Println(a.Kind, a.Name, "at", a.Size, "keeping the bytes in", a.To)
	}
	rec, err := after.Read(0)
	fmt.Printf("%s %v, the next gets offset %d\n", rec.Value, err, after.End())
	// Output:
	// closed cleanly: false
	// cut 00000000000000000000.log at 75 keeping the bytes in seglog.torn-00000000000000000001
	// durable <nil>, the next gets offset 1
}

// copyAsAfterPowerCut copies the log's files as they are, of the records the
// first n bytes.
func copyAsAfterPowerCut(l *log.Log, n int) (dir string) {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	for name, most := range map[string]int{"00000000000000000000.log": n, "seglog.checkpoint": 1 << 20} {
		content, err := os.ReadFile(filepath.Join(l.Dir(), name))
		if err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content[:min(most, len(content))], 0o644); err != nil {
			panic(err)
		}
	}
	return dir
}
