package bench

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/seglog/seglog/bench/workload"
)

func TestMain(m *testing.M) {
	code := workload.Main(m, writers)
	if err := goleak.Find(); err != nil && code == 0 {
		_, _ = os.Stderr.WriteString(err.Error())
		code = 1
	}
	os.Exit(code)
}
