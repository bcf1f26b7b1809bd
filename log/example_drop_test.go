package log_test

import (
	"errors"
	"fmt"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// DropBefore takes records off the front, DropFrom off the end. Both are
// half-open, and DropFrom takes whole batches.
func ExampleLog_DropFrom() {
	l, done := openExample(log.Options{})
	defer done()
	appendExample(l, "0", "1", "2")
	if _, err := l.Append(record.Record{Value: []byte("3")}, record.Record{Value: []byte("4")}); err != nil {
		fmt.Println(err)
	}

	if err := l.DropBefore(1); err != nil {
		fmt.Println(err)
	}
	_, err := l.Read(0)
	fmt.Println("dropped:", errors.Is(err, log.ErrTrimmed), "-", err)

	if err := l.DropFrom(4); err != nil { // in the batch that began at 3
		fmt.Println(err)
	}
	fmt.Println("left: from", l.First(), "to", l.End())
	appendExample(l, "another 3")
	rec, err := l.Read(3)
	fmt.Printf("%s %v\n", rec.Value, err)
	// Output:
	// dropped: true - log: the offset is below the log start offset: offset 0, the log has [1, 5)
	// left: from 1 to 3
	// another 3 <nil>
}
