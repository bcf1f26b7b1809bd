package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/IBM/sarama"
	"github.com/seglog/seglog/internal/serve"
)

// row is a client with its row's name.
type row struct {
	name string
	client
	ci bool
	// known is why a check may fail, by its name: faults of clients.
	known map[string]string
}

func rows() []row {
	return []row{
		{"franz-go", franz{}, true, nil},
		{"sarama", saramaClient{sarama.MaxVersion}, true, nil},
		{"sarama-1.1", saramaClient{sarama.V1_1_0_0}, true, nil},
		{"kafka-go", segmentio{}, true, nil},
		{"confluent-kafka-go", confluent{}, true, nil},
		{"kcat", kcat{}, true, nil},
		{"confluent-kafka", python("confluent", "confluent_driver.py", "confluent-kafka==2.16.1"), false, nil},
		{"kafka-python", python("kafka-python", "kafkapython_driver.py", "kafka-python==3.0.12", "crc32c==2.9.post0", "python-snappy==0.7.3", "lz4==4.4.5", "zstandard==0.25.0"), false, nil},
		{"aiokafka", python("aiokafka", "aiokafka_driver.py", "aiokafka==0.14.0", "cramjam==2.14.0"), false, nil},
		{"java", java(), false, nil},
		{"kafka-console", console{}, false, nil},
		{"kafka-verifiable", verifiable{}, false, nil},
		{"kafkajs", node("kafkajs", "kafkajs.mjs", nil, "kafkajs@2.2.4", "kafkajs-snappy@1.1.0", "kafkajs-lz4@1.2.1"), false, nil},
		{"platformatic", node("platformatic", "platformatic.mjs", nil, "@platformatic/kafka@1.35.0"), false, map[string]string{
			"killed": "a fetch that is told FENCED_LEADER_EPOCH is sent again as it was, for ever; so it is with Apache Kafka",
		}},
		// A plain installation downloads a library; this one compiles it.
		{"confluent-js", node("confluent", "confluent.mjs", []string{"CKJS_LINKING=dynamic", "npm_config_nodedir=/usr"}, "@confluentinc/kafka-javascript@1.10.1"), false, nil},
		{"rdkafka", rust(), false, nil},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	clients := flag.String("run", "", "run only clients whose name matches `RE`")
	only := flag.String("check", "", "run only checks whose name matches `RE`")
	ci := flag.Bool("ci", false, "only the Go clients and kcat, on little data")
	at := flag.Int("p", 2, "how many clients run at once")
	keep := flag.Bool("keep", false, "keep the directory of the brokers")
	flag.Parse()
	clientRE, err := regexp.Compile(*clients)
	if err != nil {
		return err
	}
	checkRE, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "seglog-clients-")
	if err != nil {
		return err
	}
	if *keep {
		fmt.Println("brokers are in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	m := matrix{dir: dir, records: 1000}
	if *ci {
		m.records = 200
	}
	for _, c := range checks {
		if checkRE.MatchString(c.name) {
			m.checks = append(m.checks, c)
		}
	}
	for _, r := range rows() {
		if clientRE.MatchString(r.name) && (r.ci || !*ci) {
			m.rows = append(m.rows, r)
		}
	}
	return m.run(ctx, *at)
}

// matrix is clients by checks.
type matrix struct {
	program, dir string
	records      int
	checks       []check
	rows         []row

	mu      sync.Mutex
	failed  []string
	skipped []string
}

func (m *matrix) run(ctx context.Context, at int) error {
	var err error
	if m.program, err = serve.Build(ctx, "../..", m.dir); err != nil {
		return err
	}
	b, err := newBroker(ctx, m.program, m.dir+"/shared")
	if err != nil {
		return err
	}
	cells := make([][]string, len(m.rows))
	limit := make(chan struct{}, at)
	var wg sync.WaitGroup
	for i, r := range m.rows {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			cells[i] = m.row(ctx, b.Addr(), r)
		})
	}
	wg.Wait()
	if err := b.Stop(); err != nil {
		m.failed = append(m.failed, err.Error())
	}
	m.print(cells)
	if len(m.failed) > 0 {
		return fmt.Errorf("%d failed", len(m.failed))
	}
	return nil
}

// row holds a client to the checks.
func (m *matrix) row(ctx context.Context, addr string, r row) []string {
	if err := r.prepare(ctx); err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.skipped = append(m.skipped, fmt.Sprintf("%s: %v", r.name, err))
		return []string{"SKIPPED"}
	}
	j, err := newJudge(addr)
	if err != nil {
		return []string{err.Error()}
	}
	defer j.close()
	b := &bench{client: r.client, judge: j, name: r.name, program: m.program, dir: m.dir, records: m.records}
	var cells []string
	for _, c := range m.checks {
		limited, cancel := context.WithTimeout(ctx, c.limit)
		began := time.Now()
		err := c.run(b, limited)
		cancel()
		cell := fmt.Sprintf("%.1fs", time.Since(began).Seconds())
		switch {
		case errors.Is(err, errUnable):
			cell = "n/a"
		case err != nil && r.known[c.name] != "":
			cell = "known"
			m.mu.Lock()
			m.skipped = append(m.skipped, fmt.Sprintf("%s, %s, which fails: %s", r.name, c.name, r.known[c.name]))
			m.mu.Unlock()
		case err != nil:
			cell = "FAIL"
			m.mu.Lock()
			m.failed = append(m.failed, fmt.Sprintf("%s, %s: %v", r.name, c.name, err))
			m.mu.Unlock()
		}
		cells = append(cells, cell)
	}
	return cells
}

func (m *matrix) print(cells [][]string) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "client")
	for _, c := range m.checks {
		fmt.Fprint(w, "\t", c.name)
	}
	fmt.Fprintln(w)
	for i, r := range m.rows {
		fmt.Fprintf(w, "%s\t%s\n", r.name, strings.Join(cells[i], "\t"))
	}
	w.Flush()
	for _, s := range m.skipped {
		fmt.Println("SKIPPED", s)
	}
	for _, f := range m.failed {
		fmt.Println("FAIL", f)
	}
}
