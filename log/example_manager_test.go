package log_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// Many logs in one directory, laid out as a Kafka broker's.
func ExampleOpenManager() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "seglog")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	m, err := log.OpenManager(ctx, filepath.Join(dir, "data"), log.ManagerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"orders-0", "orders-1"} {
		l, err := m.Create(ctx, name, log.TopicID{})
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := l.Append(record.Record{Value: []byte("in " + name)}); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(m.Delete("orders-0"))
	for name, l := range m.Logs() {
		fmt.Println(name, l.First(), l.End())
	}
	_, err = m.Log("orders-0")
	fmt.Println(err)
	fmt.Println(m.Close())
	// Output:
	// <nil>
	// orders-1 0 1
	// log: no such partition: orders-0
	// <nil>
}
