package kafka

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var (
	keep = flag.Bool("keep", false, "keep the folder of the run, and say where it is")
	only = flag.String("only", "", "write only the varieties whose name matches this expression")
)

// run is what the tests of one go test share.
var run struct {
	dir     string // of everything: removed at the end
	missing error  // why there is no Kafka to be held against
	judge   judge
	broker  node
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		child(dir)
	}
	flag.Parse()
	os.Exit(all(m))
}

// all runs the tests and ends the broker, however they end.
func all(m *testing.M) int {
	dir, err := os.MkdirTemp("", "seglog-kafka-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	run.dir = dir
	if *keep {
		fmt.Println("kept:", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	run.judge, run.missing = findJudge(filepath.Join(dir, "classes"))
	if run.missing != nil {
		fmt.Println("NOTHING WAS HELD AGAINST APACHE KAFKA:", run.missing)
		return m.Run()
	}
	run.broker = newNode(run.judge.Kafka, filepath.Join(dir, "broker"))
	defer run.broker.Kill()
	return m.Run()
}

// needsKafka skips a test, and says so, where there is no Kafka.
func needsKafka(t *testing.T) {
	t.Helper()
	if run.missing != nil {
		t.Skipf("NOTHING WAS HELD AGAINST APACHE KAFKA: %v", run.missing)
	}
}
