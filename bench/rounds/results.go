package rounds

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"unicode"
)

// create begins a file of results with the state of the tree that they are of.
func create(path string) (*os.File, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	tree, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		tree = []byte("unknown\n") // an archive of the sources
	}
	if _, err := fmt.Fprintf(file, "seglog: %s", tree); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// A Figure is a value with its unit.
type Figure struct {
	Value float64
	Unit  string
}

// Line writes the figures of one round as go test -bench prints a benchmark.
func Line(w io.Writer, name, side string, figures []Figure) error {
	runes := []rune(name)
	runes[0] = unicode.ToUpper(runes[0])
	var b strings.Builder
	fmt.Fprintf(&b, "Benchmark%s/side=%s 1", string(runes), side)
	for _, f := range figures {
		fmt.Fprintf(&b, " %g %s", f.Value, strings.ReplaceAll(f.Unit, " ", "-"))
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
