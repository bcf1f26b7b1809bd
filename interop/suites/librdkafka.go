package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seglog/seglog/internal/apache"
)

// librdkafka is the tests of librdkafka 2.15.1 that are not local ones, each in
// a process of its own. They know of topics with four partitions.
var librdkafka = suite{
	listen:   "127.0.0.1:0",
	settings: []string{"num.partitions=4", "group.initial.rebalance.delay.ms=3000"},
	expected: map[string]string{
		"0098|0103|0129":      "there are no transactions",
		"0055|0061|0137":      "its last parts are about transactions, which there are not",
		"017.|018.|0190":      "there are no share groups",
		"0081|0109|0115|0119": "it ends at ACLs, as there is no authorizer; what comes before passes",
	},
	run: librdkafkaIn("default"),
}

// librdkafkaNoAutoCreate is those of them that are for a broker which does not
// create topics by itself.
var librdkafkaNoAutoCreate = suite{
	listen:   "127.0.0.1:0",
	settings: append([]string{"auto.create.topics.enable=false"}, librdkafka.settings...),
	run:      librdkafkaIn("noautocreate"),
}

// limit is what one number may take; the longest, 0113, takes more than seven
// minutes on Kafka.
const limit = 15 * time.Minute

var testNumber = regexp.MustCompile(`_TEST\((\d{4})_\w+,([^;]*?)\)`)

// librdkafkaIn runs the tests of a scenario, by librdkafka's name.
func librdkafkaIn(scenario string) func(context.Context, string, *regexp.Regexp, func(string, result)) error {
	return func(ctx context.Context, addr string, only *regexp.Regexp, tell func(string, result)) error {
		return runLibrdkafka(ctx, addr, scenario, only, tell)
	}
}

func runLibrdkafka(ctx context.Context, addr, scenario string, only *regexp.Regexp, tell func(string, result)) error {
	dir, err := compiled(ctx)
	if err != nil {
		return err
	}
	tests := filepath.Join(dir, "tests")
	conf := filepath.Join(tests, scenario+".conf")
	if err := os.WriteFile(conf, []byte("bootstrap.servers="+addr+"\n"), 0o644); err != nil {
		return err
	}
	kafka, err := kafkaPath(ctx, tests)
	if err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join(tests, "test.c"))
	if err != nil {
		return err
	}
	_, table, _ := strings.Cut(string(source), "struct test tests[] = {")
	table, _, _ = strings.Cut(table, "{NULL}};")
	before := ""
	for _, m := range testNumber.FindAllStringSubmatch(table, -1) {
		number := m[1]
		if number == before || strings.Contains(m[2], "TEST_F_MANUAL") || only != nil && !only.MatchString(number) {
			continue
		}
		before = number
		if err := ctx.Err(); err != nil {
			return err
		}
		one(ctx, tests, number, []string{"RDKAFKA_TEST_CONF=" + conf, "BROKERS=" + addr, "KAFKA_PATH=" + kafka, "TEST_SCENARIO=" + scenario}, tell)
	}
	return nil
}

// one runs one number, which is several tests where they share it. Numbers whose
// tests are all local, of another scenario or, as librdkafka says, known not to pass
// (0028, 0047) are not told of.
func one(ctx context.Context, dir, number string, env []string, tell func(string, result)) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(within, "./test-runner", "-p1", "-L", "-K")
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "TESTS="+number, "TEST_KAFKA_VERSION=4.4.0", "LD_LIBRARY_PATH=../src:../src-cpp"), env...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	said := strings.ReplaceAll(string(out), "ALL TESTS PASSED", "")
	r := pass
	switch {
	case within.Err() != nil:
		r = fail
		said += fmt.Sprintf("\nnot done after %s", limit)
	case err != nil:
		r = fail
	case strings.Contains(said, " PASSED ====="):
	case strings.Contains(said, " SKIPPED ====="):
		r = skip
	default:
		return
	}
	fmt.Printf("%s %s in %s\n", number, r, time.Since(began).Round(time.Second))
	if r == fail {
		fmt.Printf("%s\n", said[max(0, len(said)-3000):])
	}
	tell(number, r)
}

// kafkaPath makes a folder in dir that has bin/kafka-topics.sh, which a test or two
// call: Apache Kafka's tool.
func kafkaPath(ctx context.Context, dir string) (string, error) {
	kafka, err := apache.Install(ctx)
	if err != nil {
		fmt.Printf("tests that call kafka-topics.sh will fail: %v\n", err)
	}
	bin := filepath.Join(dir, "kafka", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	call := "#!/bin/sh\nexec"
	for _, arg := range kafka.Command(ctx, apache.Topics).Args {
		call += " '" + arg + "'"
	}
	return filepath.Dir(bin), os.WriteFile(filepath.Join(bin, "kafka-topics.sh"), []byte(call+" \"$@\"\n"), 0o755)
}
