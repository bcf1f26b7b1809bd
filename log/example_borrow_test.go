package log_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// Borrow gives whole batches out of the log's own memory, here to an io.Writer
// and to a Decoder. Nothing of them may be kept behind Release.
func ExampleLog_Borrow() {
	l, done := openExample(log.Options{})
	defer done()
	appendExample(l, "one", "two", "three")

	var socket bytes.Buffer
	var decoder record.Decoder
	for offset := l.First(); ; {
		view, err := l.Borrow(offset, 1<<20)
		if err == io.EOF {
			break // offset is the end
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := view.WriteTo(&socket); err != nil {
			fmt.Println(err)
		}
		for batch := range view.Batches() {
			for rec, err := range decoder.Records(batch) {
				fmt.Printf("%d %s %v\n", rec.Offset, rec.Value, err)
			}
		}
		offset = view.Next()
		view.Release()
	}
	batch, err := record.Parse(socket.Bytes())
	fmt.Println("sent first:", batch.Count, "record at offset", batch.BaseOffset, err)
	// Output:
	// 0 one <nil>
	// 1 two <nil>
	// 2 three <nil>
	// sent first: 1 record at offset 0 <nil>
}
