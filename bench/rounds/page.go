package rounds

import (
	"fmt"
	"os"
	"strings"
)

// Page is a part of a page that is written by a program. The rest is by hand.
type Page struct{ Begin, End string } // whole lines around it, without their ends

// Write puts text between the two lines in a file, which it makes if need be.
func (p Page) Write(path, text string) error {
	old, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		old, err = []byte(p.Begin+"\n"+p.End+"\n"), nil
	}
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), p.Begin)
	_, after, closed := strings.Cut(rest, p.End)
	if !ok || !closed {
		return fmt.Errorf("%s: there are no lines %q and %q, between which the figures go", path, p.Begin, p.End)
	}
	return os.WriteFile(path, []byte(before+p.Begin+"\n\n"+text+"\n"+p.End+after), 0o644)
}
