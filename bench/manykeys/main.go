// Manykeys compacts a log that has more keys than the key map has room for, and
// checks what is left: of each key the newest record and nothing else.
//
//	go run ./bench/manykeys -keys 100000000 -map 64MiB
//
// It writes a log of so many distinct keys to a new directory below -dir, each
// once and a quarter of them a second time, in an order far from the first;
// compacts it; reads all that is left and holds it against what was written,
// which is a formula and takes no memory. It removes the directory, and says
// what time and memory it took. A hundred million keys take 5 GB of disk at the
// most.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// config is what the flags say.
type config struct {
	keys     int64
	mapBytes int64
	segment  int64
	batch    int
	codec    record.Codec
}

func main() {
	keys := flag.Int64("keys", 100_000_000, "distinct keys")
	mapSize := flag.String("map", "64MiB", "memory of the key map")
	segment := flag.String("segment", "256MiB", "size of a segment")
	batch := flag.Int("batch", 200, "records in a batch")
	codec := flag.String("codec", "none", "compression")
	dir := flag.String("dir", os.TempDir(), "where the log's directory is made")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *keys, *mapSize, *segment, *batch, *codec, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "manykeys:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, keys int64, mapSize, segment string, batch int, codec, dir string) (err error) {
	c := config{keys: keys, batch: batch}
	var errs [3]error
	c.mapBytes, errs[0] = parseBytes(mapSize)
	c.segment, errs[1] = parseBytes(segment)
	c.codec, errs[2] = record.ParseCodec(codec)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if keys < 4 || batch < 1 {
		return errors.New("want at least 4 keys, and 1 record in a batch")
	}
	if dir, err = os.MkdirTemp(dir, "manykeys"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l, err := log.Open(ctx, dir, log.Options{SegmentBytes: c.segment, Compression: c.codec,
		Compaction: &compact.Options{MapBytes: c.mapBytes}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return c.all(ctx, l)
}

func parseBytes(s string) (int64, error) {
	n, err := humanize.ParseBytes(s)
	return int64(n), err
}

// all writes, compacts and checks.
func (c config) all(ctx context.Context, l *log.Log) error {
	began := time.Now()
	if err := c.write(ctx, l); err != nil {
		return err
	}
	fmt.Printf("written     %s records of %s keys, %d segments, %s, in %v\n", humanize.Comma(l.End()), humanize.Comma(c.keys),
		len(l.Segments()), humanize.IBytes(uint64(l.Stats().Bytes)), took(began))
	m, began := watchMemory(), time.Now()
	r, err := l.Compact(ctx)
	elapsed := time.Since(began)
	memory := m.stop()
	if err != nil {
		return err
	}
	fmt.Printf("compacted   %v\n", r)
	fmt.Printf("            in %v, %s of log a second; read %s, keys in files %s\n", elapsed.Round(10*time.Millisecond),
		humanize.IBytes(uint64(float64(r.Bytes.Before)/elapsed.Seconds())), humanize.IBytes(uint64(r.Read)), humanize.IBytes(uint64(r.Spilled)))
	fmt.Printf("memory      %v\n", memory)
	began = time.Now()
	if err := c.check(ctx, l); err != nil {
		return err
	}
	fmt.Printf("checked     the newest record of each of %s keys and no other, in %v\n", humanize.Comma(c.keys), took(began))
	return nil
}

func took(began time.Time) time.Duration { return time.Since(began).Round(10 * time.Millisecond) }

// value makes every record tell where it was put.
func appendRecord(b []byte, r *record.Record, key, offset int64) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(key))
	b = binary.BigEndian.AppendUint64(b, uint64(offset))
	r.Key, r.Value = b[len(b)-16:len(b)-8:len(b)-8], b[len(b)-8:]
	return b
}
