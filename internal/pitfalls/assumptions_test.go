package pitfalls

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// uncited are the assumptions that no test can break or rely on visibly, and why.
var uncited = map[string]string{
	"A2":  "only a loss of power shows whether it holds: fuzz/powercut cuts it in a virtual machine",
	"A13": "what nobody notices, no test does",
}

var (
	citation   = regexp.MustCompile(`// (?:Relies on|Breaks) ([A-Z0-9, ]+) \(docs/ASSUMPTIONS\.md\)`)
	assumption = regexp.MustCompile(`(?m)^\| (A[0-9]+) \|`)
)

// TestAssumptionsAreCited: each assumption about hardware and file systems is
// cited by a test that relies on it, or has a reason here, and what is cited is
// one.
func TestAssumptionsAreCited(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "ASSUMPTIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	cited := make(map[string][]string)
	for _, m := range assumption.FindAllStringSubmatch(string(text), -1) {
		cited[m[1]] = nil
	}
	if len(cited) == 0 {
		t.Fatal("docs/ASSUMPTIONS.md has no table")
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		code, err := os.ReadFile(name)
		for _, m := range citation.FindAllStringSubmatch(string(code), -1) {
			for _, id := range strings.Split(m[1], ", ") {
				if _, ok := cited[id]; !ok {
					t.Errorf("%s cites %s, which docs/ASSUMPTIONS.md does not have", name, id)
				}
				cited[id] = append(cited[id], name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, tests := range cited {
		switch reason := uncited[id]; {
		case len(tests) == 0 && reason == "":
			t.Errorf("no test cites %s", id)
		case len(tests) > 0 && reason != "":
			t.Errorf("%s is cited by %v, and said not to be: %s", id, tests, reason)
		}
	}
	for id := range uncited {
		if _, ok := cited[id]; !ok {
			t.Errorf("docs/ASSUMPTIONS.md does not have %s", id)
		}
	}
}
