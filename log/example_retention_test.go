package log_test

import (
	"context"
	"fmt"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/retention"
)

// Retain drops the oldest whole segments that the policy lets go. Here they are
// so small that each takes one batch, and may go when its records were
// acknowledged and the log is above 200 bytes without it.
func ExampleLog_Retain() {
	acknowledged := int64(1)
	l, done := openExample(log.Options{
		SegmentBytes: 100,
		Retention: retention.All(
			retention.Floor(func() int64 { return acknowledged }),
			retention.MaxBytes(200)),
	})
	defer done()
	appendExample(l, "a", "b", "c", "d", "e")

	for range 2 {
		dropped, err := l.Retain(context.Background())
		fmt.Printf("acknowledged below %d: %d dropped, [%d, %d) are left, %v\n", acknowledged, len(dropped), l.First(), l.End(), err)
		acknowledged = 5
	}
	// Output:
	// acknowledged below 1: 1 dropped, [1, 5) are left, <nil>
	// acknowledged below 5: 1 dropped, [2, 5) are left, <nil>
}
