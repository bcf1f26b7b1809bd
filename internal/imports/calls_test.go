package imports

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// sources parses the module's files that are no tests: by slash-separated path.
func sources(t *testing.T) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	files, set := make(map[string]*ast.File), token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || ownModule(name)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		files[filepath.ToSlash(rel)] = f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return set, files
}

func ownModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// calls tells f of every call with the name of the function it is in.
func calls(file *ast.File, f func(in string, call *ast.CallExpr)) {
	for _, d := range file.Decls {
		in := ""
		if fn, ok := d.(*ast.FuncDecl); ok {
			in = fn.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				f(in, call)
			}
			return true
		})
	}
}

// TestPitfallF3OneRename: files are replaced by one function, which knows what
// has to be synced and in which order. A file system's own Rename may call the
// one below it.
func TestPitfallF3OneRename(t *testing.T) {
	set, files := sources(t)
	var places []string
	for name, file := range files {
		calls(file, func(in string, call *ast.CallExpr) {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if ok && sel.Sel.Name == "Rename" && in != "Rename" {
				places = append(places, fmt.Sprintf("%s %s (line %d)", name, in, set.Position(call.Pos()).Line))
			}
		})
	}
	slices.Sort(places)
	if len(places) != 2 || !strings.HasPrefix(places[0], "internal/vfs/replace.go Replace ") ||
		!strings.HasPrefix(places[1], "internal/vfs/replace.go SetAside ") {
		t.Errorf("Rename is called by %q, want vfs.Replace and vfs.SetAside alone", places)
	}
}

// ends are the calls in the engine that may end the program, and why they may
// be there.
var ends = map[string]string{
	"record/zstd.go newZstdWriter panic":    "its options are constants",
	"record/zstd.go newZstdReader panic":    "its options are constants",
	"record/compress.go newLZ4Writer panic": "its options are constants",
	"internal/notify/notify.go Close panic": "a caller's mistake: waiters would get a nil error for good",
	"internal/vfs/guard.go Unguard panic":   "hands on a panic that is no fault of mapped memory",
	"internal/invariants/on.go Check panic": "only built with -tags invariants",
}

// TestPitfallA2NothingEndsTheProgram: a library surfaces what it meets as an
// error and leaves it to the program to go on or not.
func TestPitfallA2NothingEndsTheProgram(t *testing.T) {
	set, files := sources(t)
	unused := make(map[string]bool)
	for key := range ends {
		unused[key] = true
	}
	for name, file := range files {
		if _, ok := engine[path.Dir(name)]; !ok {
			continue
		}
		calls(file, func(in string, call *ast.CallExpr) {
			what, ok := endsProgram(file, call)
			if !ok {
				return
			}
			key := name + " " + in + " " + what
			delete(unused, key)
			if ends[key] == "" {
				t.Errorf("%v: %q has no reason in this file", set.Position(call.Pos()), key)
			}
		})
	}
	for key := range unused {
		t.Errorf("%q is not there any more", key)
	}
}

// endsProgram says whether a call ends the program, or may.
func endsProgram(file *ast.File, call *ast.CallExpr) (what string, ok bool) {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name, fun.Name == "panic"
	case *ast.SelectorExpr:
		x, isName := fun.X.(*ast.Ident)
		if !isName {
			return "", false
		}
		name := fun.Sel.Name
		switch imported(file, x.Name) {
		case "os", "syscall":
			return x.Name + "." + name, slices.Contains([]string{"Exit", "Kill"}, name)
		case "runtime":
			return x.Name + "." + name, name == "Goexit"
		case "log":
			return x.Name + "." + name, strings.HasPrefix(name, "Fatal") || strings.HasPrefix(name, "Panic")
		}
	}
	return "", false
}

// imported is the path that a name stands for in a file, "" for none.
func imported(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		as := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			as = spec.Name.Name
		}
		if as == name {
			return path
		}
	}
	return ""
}
