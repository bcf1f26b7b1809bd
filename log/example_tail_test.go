package log_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seglog/seglog/log"
)

// Tail reads what is there, then waits for what is appended.
func ExampleLog_Tail() {
	l, done := openExample(log.Options{})
	defer done()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	appendExample(l, "one", "two")
	for rec, err := range l.Tail(ctx, l.First()) {
		if errors.Is(err, context.Canceled) {
			fmt.Println("stopped")
			break
		}
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Printf("%d %s\n", rec.Offset, rec.Value)
		switch string(rec.Value) {
		case "two":
			go appendExample(l, "three") // wakes the Tail
		case "three":
			stop()
		}
	}
	// Output:
	// 0 one
	// 1 two
	// 2 three
	// stopped
}
