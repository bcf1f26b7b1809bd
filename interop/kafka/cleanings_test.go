package kafka

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

// cleaningRounds is how often everything is cleaned: tombstones and markers get
// their horizon in one round and go in a later one.
const cleaningRounds = 3

// cleaning is a partition that both cleaners are given. To add one is to add a
// row.
type cleaning struct {
	name     string
	settings map[string]string
	minLag   time.Duration
	// retention is delete.retention.ms of each round.
	retention [cleaningRounds]time.Duration
	// write writes it through the engine, before the first round; alter changes
	// what became of it at the broker, which is stopped.
	write func(*writer)
	alter func(t *testing.T, dir string)
	// drive has the broker write, in each round.
	drive func(*driver)
	// severalRounds: its keys do not fit Kafka's map.
	severalRounds bool

	topic    string
	clients  map[string]*kgo.Client
	open     int64     // where an open transaction begins, plus 1
	cleaned  time.Time // by Kafka, in this round
	horizons []int64   // that Kafka set in it
	ours     int64     // the one we set
	skipped  bool      // there was nothing to clean
}

var (
	atOnce     = [cleaningRounds]time.Duration{0, 0, 0}
	soon       = [cleaningRounds]time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}
	notYet     = [cleaningRounds]time.Duration{time.Hour, time.Hour, time.Hour}
	notYetThen = [cleaningRounds]time.Duration{time.Hour, 0, time.Millisecond}
)

func cleanings() []cleaning {
	list := []cleaning{
		{name: "overwritten", retention: soon, drive: (*driver).overwrites},
		{name: "overwritten-at-once", retention: atOnce, drive: (*driver).overwrites},
		{name: "overwritten-not-yet", retention: notYetThen, drive: (*driver).overwrites},
		{name: "append-time", retention: soon, settings: map[string]string{"message.timestamp.type": "LogAppendTime"}, drive: (*driver).overwrites},
		{name: "once-each", retention: notYet, drive: func(d *driver) {
			d.send(d.plain("none"), d.unique(400)...)
		}},
		{name: "many-producers", retention: soon, drive: (*driver).manyProducers},
		{name: "transactions", retention: soon, drive: (*driver).transactions},
		{name: "transactions-at-once", retention: atOnce, drive: (*driver).transactions},
		{name: "transactions-not-yet", retention: notYetThen, drive: (*driver).transactions},
		{name: "transaction-open", retention: soon, drive: (*driver).openTransaction},
		{name: "lag", retention: soon, minLag: time.Hour, drive: (*driver).ageing},
		{name: "records-deleted", retention: soon, settings: map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1"}, drive: (*driver).deleted},
		{name: "map-full", retention: notYet, severalRounds: true, settings: map[string]string{"internal.segment.bytes": "1048576"}, drive: (*driver).tooManyKeys},
		{name: "ours-compacted", retention: soon, write: compactedByUs, drive: (*driver).overwrites},
		{name: "ours-compacted-transactions", retention: notYetThen, write: compactedTransactions, drive: (*driver).transactions},
		{name: "ours-all-sealed", retention: soon, write: func(w *writer) { history(w, 77, 120) }, alter: sealAll},
		{name: "ours-far-apart", retention: soon, write: farApart, drive: (*driver).overwrites},
	}
	retentions := [][cleaningRounds]time.Duration{soon, notYetThen, atOnce}
	for seed := range *seeds {
		retention := retentions[seed%3]
		list = append(list,
			cleaning{name: fmt.Sprintf("by-chance-%d", seed), retention: retention, drive: func(d *driver) { d.byChance(seed) }},
			cleaning{name: fmt.Sprintf("ours-by-chance-%d", seed), retention: retention,
				write: func(w *writer) { history(w, seed, 400) }, drive: func(d *driver) { d.byChance(seed + 1000) }})
	}
	return list
}

// sealAll gives a partition an empty active segment, so that all it has can be
// cleaned and its last batch ends at the high watermark.
func sealAll(t *testing.T, dir string) {
	t.Helper()
	l, err := log.Open(t.Context(), dir, log.Options{Mode: log.ReadOnly})
	require.NoError(t, err)
	end := l.End()
	require.NoError(t, l.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, segment.Name(end, segment.LogSuffix)), nil, 0o644))
}

// driver has Kafka's broker write a partition in one round.
type driver struct {
	t     *testing.T
	c     *cleaning
	round int
}

// client is one of the partition's, the same in each round.
func (d *driver) client(name string, o ...kgo.Opt) *kgo.Client {
	d.t.Helper()
	c := d.c.clients[name]
	if c == nil {
		if d.c.clients == nil {
			d.c.clients = map[string]*kgo.Client{}
		}
		c = client(d.t, append(o, kgo.ProducerLinger(0))...)
		d.c.clients[name] = c
	}
	return c
}

func codec(name string) kgo.Opt {
	return kgo.ProducerBatchCompression(map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}[name])
}

var codecNames = []string{"none", "gzip", "snappy", "lz4", "zstd"}

// plain has no producer id, idempotent has, transactional a transactional one.
func (d *driver) plain(codecName string) *kgo.Client {
	return d.client("plain "+codecName, codec(codecName), kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck()))
}

func (d *driver) idempotent(codecName string, n int) *kgo.Client {
	return d.client(fmt.Sprint("idempotent ", codecName, n), codec(codecName))
}

func (d *driver) transactional(codecName string, n int) *kgo.Client {
	id := fmt.Sprint(d.c.topic, codecName, n)
	return d.client(id, codec(codecName), kgo.TransactionalID(id), kgo.TransactionTimeout(10*time.Minute))
}

func (d *driver) send(c *kgo.Client, list ...*kgo.Record) {
	d.t.Helper()
	for _, r := range list {
		r.Topic = d.c.topic
	}
	send(d.t, c, list...)
}

// keyedRecord is a record of a key, a tombstone if size is negative.
func keyedRecord(key, size int) *kgo.Record {
	r := &kgo.Record{Key: fmt.Appendf(nil, "key %d", key)}
	if size >= 0 {
		r.Value = fmt.Appendf(nil, "value %d %s", size, strings.Repeat("v", size))
	}
	return r
}

func (d *driver) unique(n int) (list []*kgo.Record) {
	for i := range n {
		r := keyedRecord(i, 60)
		r.Key = fmt.Appendf(r.Key, " of round %d", d.round)
		list = append(list, r)
	}
	return list
}

// overwrites writes the same keys again and again in all codecs, with and
// without a producer id; every fifth a tombstone, now and then all.
func (d *driver) overwrites() {
	for i := range 20 {
		var list []*kgo.Record
		for key := range 30 {
			size := 20 + (i*key)%90
			if (key+i)%5 == 0 || i%9 == 4 {
				size = -1
			}
			list = append(list, keyedRecord(key*(1+i%3), size))
		}
		c := d.plain(codecNames[i%5])
		if i%2 == 0 {
			c = d.idempotent(codecNames[i%5], 0)
		}
		d.send(c, list...)
	}
	d.send(d.plain("none"), d.unique(30)...)
}

// manyProducers come, write keys that others write later, and go.
func (d *driver) manyProducers() {
	for i := range 25 {
		c := d.idempotent(codecNames[i%5], i)
		for range 2 {
			d.send(c, keyedRecord(i%7, 50), keyedRecord(7+i%3, -1), keyedRecord(i%2, 300))
		}
	}
	for range 20 {
		d.send(d.plain("none"), keyedRecord(0, 700), keyedRecord(1, 700))
	}
}

// transactions of three producers, of every third aborted, interleaved with each
// other and with plain records.
func (d *driver) transactions() {
	for i := range 8 {
		var open []*kgo.Client
		for n := range 3 {
			c := d.transactional(codecNames[(n+i/4)%5], n)
			require.NoError(d.t, c.BeginTransaction())
			open = append(open, c)
		}
		for part := range 3 {
			for n, c := range open {
				d.send(c, keyedRecord(part*5+n, 80), keyedRecord(n, 30+i), keyedRecord(20+i, 50), keyedRecord(40+i%4, -1))
			}
			d.send(d.plain("none"), keyedRecord(60+i, 100), keyedRecord(i%3, 20))
		}
		for n, c := range open {
			require.NoError(d.t, c.EndTransaction(d.t.Context(), kgo.TransactionEndTry((i+n)%3 != 0)))
		}
	}
	d.send(d.plain("none"), d.unique(120)...)
}

// openTransaction keeps one open from the first round to the third.
func (d *driver) openTransaction() {
	c := d.transactional("none", 9)
	if d.round == cleaningRounds-1 {
		require.NoError(d.t, c.EndTransaction(d.t.Context(), kgo.TryAbort))
		d.c.open = 0
	}
	d.transactions()
	if d.round == 0 {
		require.NoError(d.t, c.BeginTransaction())
		r := keyedRecord(1, 10)
		d.send(c, r)
		d.c.open = r.Offset + 1
		d.transactions()
	}
}

// ageing writes records of the last two hours, of which one is to be left
// alone.
func (d *driver) ageing() {
	start := time.Now().Add(-2 * time.Hour)
	for i := range 60 {
		var list []*kgo.Record
		for key := range 10 {
			r := keyedRecord(key, 60)
			r.Timestamp = start.Add(time.Duration(i) * 2 * time.Minute)
			list = append(list, r)
		}
		d.send(d.plain("none"), list...)
	}
}

// deleted has records deleted up to the middle of a segment, and waits until
// whole segments below are gone.
func (d *driver) deleted() {
	d.overwrites()
	dir := run.broker.partition(d.c.topic)
	end := ends(d.t, []string{d.c.topic}, false)[d.c.topic]
	start := end - 400
	deleteRecords(d.t, d.c.topic, start)
	require.Eventually(d.t, func() bool {
		names := logs(d.t, dir)
		if len(names) < 2 {
			return true
		}
		second, _, _ := segment.ParseName(names[1])
		return second > start
	}, time.Minute, 20*time.Millisecond)
}

// tooManyKeys do not fit Kafka's map.
func (d *driver) tooManyKeys() {
	keys := 100_000
	if d.round > 0 {
		keys = 20_000
	}
	var list []*kgo.Record
	for i := range keys {
		size := 3
		if i%1000 == 7 {
			size = -1
		}
		list = append(list, keyedRecord((i*7919)%90_000, size))
	}
	d.send(d.plain("none"), list[:keys/2]...)
	d.send(d.plain("lz4"), list[keys/2:]...)
}

// byChance does what the seed says.
func (d *driver) byChance(seed uint64) {
	random := rand.New(rand.NewPCG(seed, uint64(d.round)))
	open := map[*kgo.Client]bool{}
	end := func(c *kgo.Client) {
		require.NoError(d.t, c.EndTransaction(d.t.Context(), kgo.TransactionEndTry(random.IntN(3) > 0)))
		delete(open, c)
	}
	var transactional []*kgo.Client
	for i := range 3 {
		transactional = append(transactional, d.transactional(codecNames[random.IntN(5)], i))
	}
	for range 70 {
		var list []*kgo.Record
		for range 1 + random.IntN(25) {
			size := random.IntN(150)
			if random.IntN(6) == 0 {
				size = -1
			}
			list = append(list, keyedRecord(int(random.ExpFloat64()*15), size))
		}
		name := codecNames[random.IntN(5)]
		switch random.IntN(3) {
		case 0:
			d.send(d.plain(name), list...)
		case 1:
			d.send(d.idempotent(name, random.IntN(3)), list...)
		case 2:
			c := transactional[random.IntN(3)]
			if !open[c] {
				require.NoError(d.t, c.BeginTransaction())
				open[c] = true
			}
			d.send(c, list...)
			if random.IntN(2) == 0 {
				end(c)
			}
		}
	}
	for _, c := range transactional {
		if open[c] {
			end(c)
		}
	}
	d.send(d.plain("none"), d.unique(random.IntN(150))...)
}
