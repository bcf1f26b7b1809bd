package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestCodeIsAnExamples: what the README shows is the function that the tested
// Example of package log calls, letter for letter.
func TestCodeIsAnExamples(t *testing.T) {
	_, rest, _ := strings.Cut(read(t, "README.md"), "```go\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok || strings.Contains(rest, "```go\n") {
		t.Fatal("the README has not exactly one block of Go")
	}
	example := read(t, "log/example_embed_test.go")
	if !strings.HasPrefix(block, "func weather(") || !strings.Contains(example, "\n"+block+"\n") {
		t.Errorf("log/example_embed_test.go does not have the README's\n%s", block)
	}
}

// TestTestCommandIsRun: the check that has to pass before a change runs what the
// README tells newcomers to run.
func TestTestCommandIsRun(t *testing.T) {
	const command = "go test ./..."
	if !strings.Contains(read(t, "README.md"), "\n    "+command+" ") {
		t.Errorf("the README does not say %s", command)
	}
	if !strings.Contains(read(t, ".ci/run"), "\n"+command+"\n") {
		t.Errorf(".ci/run does not run %s as the README has it", command)
	}
}

var link = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)

// TestLinksLead: relative links in the documents are of files that are there.
func TestLinksLead(t *testing.T) {
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := filepath.Glob(filepath.Join(root, "docs", "decisions", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(append(documents, decisions...), filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
