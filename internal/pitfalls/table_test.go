package pitfalls

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// pin is a test whose name tells the pitfall it is about.
type pin struct{ id, test, where string }

var pinName = regexp.MustCompile(`^TestPitfall([A-Z][0-9]+)`)

// pins finds all of them in the module.
func pins(t *testing.T) map[string]pin {
	t.Helper()
	found, set := make(map[string]pin), token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(fn.Name.Name, "TestPitfall") {
				continue
			}
			p := pin{test: fn.Name.Name, where: filepath.ToSlash(dir)}
			if m := pinName.FindStringSubmatch(p.test); m != nil {
				p.id = m[1]
			} else {
				t.Errorf("%v: %s does not name its pitfall", set.Position(fn.Pos()), p.test)
			}
			if other, twice := found[p.test]; twice && other.where != p.where {
				t.Errorf("%s is in %s and in %s", p.test, other.where, p.where)
			}
			found[p.test] = p
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var rewrite = flag.Bool("rewrite", false, "bring the table in docs/PITFALLS.md up to date")

const tableHead = "| ID | pitfall | pinned by |\n|---|---|---|\n"

// TestTable: every row of the table names tests that are there, and every test
// that pins a pitfall is in the row of that pitfall. With -rewrite the table is
// made so.
func TestTable(t *testing.T) {
	name := filepath.Join(root, "docs", "PITFALLS.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, body, ok := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), tableHead)
	if !ok {
		t.Fatal("docs/PITFALLS.md has no table")
	}
	want := table(t, pins(t))
	if *rewrite {
		if err := os.WriteFile(name, []byte(before+tableHead+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, missing := range lacks(body, want) {
		t.Errorf("docs/PITFALLS.md lacks: %s", missing)
	}
	for _, stale := range lacks(want, body) {
		t.Errorf("docs/PITFALLS.md has what is not so: %s", stale)
	}
	if t.Failed() {
		t.Log("go test ./internal/pitfalls -rewrite brings the table up to date")
	}
}

// lacks lists the lines of want that text does not have.
func lacks(text, want string) (missing []string) {
	lines := strings.Split(text, "\n")
	for line := range strings.SplitSeq(want, "\n") {
		if !slices.Contains(lines, line) {
			missing = append(missing, line)
		}
	}
	return missing
}

// table is the body of the table for those tests.
func table(t *testing.T, there map[string]pin) string {
	tests := make(map[string][]string)
	for _, p := range there {
		if words[p.id] == "" {
			t.Errorf("%s %s is about %s, which words_test.go does not know", p.where, p.test, p.id)
		}
		tests[p.id] = append(tests[p.id], fmt.Sprintf("`%s %s`", p.where, p.test))
	}
	var b strings.Builder
	for _, id := range slices.SortedFunc(maps.Keys(tests), byID) {
		slices.Sort(tests[id])
		fmt.Fprintf(&b, "| %s | %s | %s |\n", id, words[id], strings.Join(tests[id], ", "))
	}
	return b.String()
}

// byID sorts by letter in the order the document names them, then by number.
func byID(a, b string) int {
	const order = "OTMDFPWRLHSA"
	number := func(id string) int { n, _ := strconv.Atoi(id[1:]); return n }
	return cmp.Or(cmp.Compare(strings.IndexByte(order, a[0]), strings.IndexByte(order, b[0])), cmp.Compare(number(a), number(b)))
}
