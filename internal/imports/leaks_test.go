package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLeaksAreLookedFor: where goroutines are started, by the code or by its
// tests, the tests fail if one is left behind (goleak).
func TestLeaksAreLookedFor(t *testing.T) {
	starts, checks := make(map[string]string), make(map[string]bool)
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || ownModule(name)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		for _, i := range f.Imports {
			checks[dir] = checks[dir] || strings.HasSuffix(name, "_test.go") && i.Path.Value == `"go.uber.org/goleak"`
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts[dir] = set.Position(n.Pos()).String()
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" {
					starts[dir] = set.Position(n.Pos()).String()
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(starts) < 5 {
		t.Errorf("only %d packages start goroutines", len(starts))
	}
	for dir, where := range starts {
		own := strings.TrimPrefix(dir, root+"/")
		if !checks[dir] && !slices.Contains(programs, own) && !strings.HasPrefix(own, "examples/") {
			t.Errorf("%s starts a goroutine, and no test of the package looks for those left behind", where)
		}
	}
}

// programs are those whose goroutines end with them, beside the examples.
var programs = []string{"fuzz/powercut", "fuzz/powercut/guest", "fuzz/work", "bench/manykeys"}
