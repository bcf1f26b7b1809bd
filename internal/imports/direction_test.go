package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seglog/seglog/"

// engine lists what the packages of the engine may import of this module and
// of others, beside the standard library. Arrows point one way:
//
//	log -> {recovery, retention} -> segment -> index -> record
var engine = map[string][]string{
	"record": {"github.com/klauspost/compress", "github.com/pierrec/lz4"},
	"index":  {"record"},
	"segment": {"index", "record", "internal/vfs", "internal/invariants",
		"github.com/cespare/xxhash"},
	"retention":         {},
	"retention/compact": {"segment", "index", "record", "internal/inorder", "internal/vfs", "github.com/cespare/xxhash"},
	"recovery": {"segment", "index", "record", "internal/vfs", "internal/invariants", "internal/epochs", "internal/producers",
		"internal/kafkadir", "github.com/cespare/xxhash"},
	"log": {"recovery", "retention", "retention/compact", "segment", "index", "record", "internal/vfs", "internal/notify", "internal/invariants",
		"internal/epochs", "internal/producers", "internal/kafkadir",
		"github.com/google/btree", "github.com/cespare/xxhash"},
	"internal/vfs":        {"internal/invariants", "github.com/edsrzf/mmap-go", "golang.org/x/sys"},
	"internal/notify":     {"internal/invariants"},
	"internal/inorder":    {},
	"internal/invariants": {},
	"internal/epochs":     {},
	"internal/producers":  {"record"},
	"internal/kafkadir":   {"internal/vfs"},
}

// above lists the same of the packages on top of the engine. Only the one that
// is for a network knows one.
var above = map[string][]string{
	"queue":              {"log", "record", "internal/notify", "internal/vfs"},
	"producer":           {"record"},
	"producer/logsink":   {"producer", "log", "record"},
	"producer/kafkasink": {"producer", "github.com/twmb/franz-go"},
	"broker": {"group", "log", "record", "retention", "retention/compact", "internal/vfs", "internal/kafkadir",
		"github.com/cespare/xxhash", "github.com/twmb/franz-go/pkg/kerr", "golang.org/x/sync"},
	"broker/consumer": {"broker", "group", "group/assign", "log", "record", "internal/vfs", "github.com/twmb/franz-go/pkg/kerr"},
	"broker/kafka": {"broker", "group", "log", "record", "internal/kafkadir",
		"github.com/twmb/franz-go", "golang.org/x/sync", "golang.org/x/sys"},
	"broker/metrics": {"broker", "broker/kafka", "group", "log",
		"github.com/prometheus/client_golang/prometheus", "github.com/twmb/franz-go/pkg/kerr", "github.com/twmb/franz-go/pkg/kmsg"},
	"group":        {"group/assign", "internal/coordinator", "internal/javahash"},
	"group/assign": {"internal/javahash", "github.com/twmb/franz-go/pkg/kmsg"},
}

// modules is all that a program compiles that embeds the log.
var modules = []string{
	"github.com/edsrzf/mmap-go", "github.com/cespare/xxhash/v2", "github.com/google/btree", "golang.org/x/sys",
	"github.com/klauspost/compress", "github.com/pierrec/lz4/v4",
}

// hosts are those whose build-tagged files are looked at.
var hosts = []string{"linux", "darwin", "windows"}

// listed is a package as go list prints it.
type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
	Module     *struct{ Path string }
}

func goList(t *testing.T, goos string, args ...string) (packages []listed) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Standard,Module"}, args...)...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.Bytes())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// TestDirection: the engine's packages import what is below them, and no
// package imports a command.
func TestDirection(t *testing.T) {
	for _, goos := range hosts {
		seen := make(map[string]bool)
		for _, p := range goList(t, goos, "./...") {
			name := strings.TrimPrefix(p.ImportPath, module)
			seen[name] = true
			allowed, ruled := engine[name]
			if !ruled {
				allowed, ruled = above[name]
			}
			for _, path := range p.Imports {
				own := strings.TrimPrefix(path, module)
				if own == "cmd" || strings.HasPrefix(own, "cmd/") && own != path {
					t.Errorf("%s: %s imports the command %s", goos, name, own)
				}
				if ruled && !standard(path) && !slices.ContainsFunc(allowed, func(a string) bool {
					return own == a || own == path && strings.HasPrefix(path, a+"/")
				}) {
					t.Errorf("%s: %s imports %s; its row in this file does not allow that", goos, name, own)
				}
			}
		}
		for _, rows := range []map[string][]string{engine, above} {
			for name := range rows {
				if !seen[name] {
					t.Errorf("%s: there is no package %s, which has a row in this file", goos, name)
				}
			}
		}
	}
}

// standard says whether a path is the standard library's: those have no dot in
// their first element.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// TestEmbeddingCompilesLittle: who imports the log gets no network, no metrics
// library and no package of this module above it.
func TestEmbeddingCompilesLittle(t *testing.T) {
	for _, goos := range hosts {
		for _, p := range goList(t, goos, "-deps", "./log") {
			own := strings.TrimPrefix(p.ImportPath, module)
			switch {
			case goos == "windows" && (p.ImportPath == "net" || p.ImportPath == "net/netip"):
				// x/sys/windows names their types.
			case p.ImportPath == "net" || strings.HasPrefix(p.ImportPath, "net/"):
				t.Errorf("%s: the log compiles %s", goos, p.ImportPath)
			case p.Standard:
			case own != p.ImportPath:
				if _, ok := engine[own]; !ok {
					t.Errorf("%s: the log compiles %s, which is no package of the engine", goos, own)
				}
			case p.Module == nil || !slices.Contains(modules, p.Module.Path):
				t.Errorf("%s: the log compiles %s, of a module that is not on the list", goos, p.ImportPath)
			}
		}
	}
}
