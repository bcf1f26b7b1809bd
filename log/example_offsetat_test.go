package log_test

import (
	"fmt"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// OffsetAt is where to start reading for what happened since a moment. Records
// keep the times they are given, which need not ascend.
func ExampleLog_OffsetAt() {
	l, done := openExample(log.Options{})
	defer done()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, minute := range []int{0, 10, 5, 20} { // the third comes late
		at := noon.Add(time.Duration(minute) * time.Minute)
		if _, err := l.Append(record.Record{Time: at, Value: fmt.Appendf(nil, "minute %d", minute)}); err != nil {
			fmt.Println(err)
		}
	}

	for _, minute := range []int{-60, 7, 20, 21} {
		offset, err := l.OffsetAt(noon.Add(time.Duration(minute) * time.Minute))
		fmt.Println("minute", minute, "at offset", offset, err)
	}
	fmt.Println("the end is", l.End())
	// Output:
	// minute -60 at offset 0 <nil>
	// minute 7 at offset 1 <nil>
	// minute 20 at offset 3 <nil>
	// minute 21 at offset 4 <nil>
	// the end is 4
}
