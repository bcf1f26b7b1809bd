package record_test

import (
	"fmt"
	"time"

	"github.com/seglog/seglog/record"
)

// A batch is built, moved to its place in a log, parsed and read.
func Example() {
	var b record.Builder
	b.Reset(record.BatchOptions{Codec: record.Zstd})
	for _, city := range []string{"Oslo", "Lima"} {
		r := record.Record{Time: time.UnixMilli(1700000000000), Key: []byte(city), Value: []byte("rain")}
		if err := b.Add(&r); err != nil {
			fmt.Println(err)
			return
		}
	}
	raw, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	record.SetBaseOffset(raw, 41)

	batch, err := record.Parse(raw)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(batch.Count, "records, next offset", batch.NextOffset())
	var d record.Decoder
	for r, err := range d.Records(batch) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d %s %s=%s\n", r.Offset, r.Time.Format(time.DateOnly), r.Key, r.Value)
	}
	// Output:
	// 2 records, next offset 43
	// 41 2023-11-14 Oslo=rain
	// 42 2023-11-14 Lima=rain
}
