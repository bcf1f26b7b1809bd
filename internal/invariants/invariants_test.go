package invariants

import (
	"bytes"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	Check(true, "never seen")
	got := message(func() { Check(false, "end %d below start %d", 1, 2) })
	want := ""
	if Enabled {
		want = "end 1 below start 2"
	}
	if !strings.HasSuffix(got, want) || (got == "") != (want == "") {
		t.Errorf("Check(false) panicked with %q, want it to end in %q", got, want)
	}
}

func TestPoison(t *testing.T) {
	b := []byte("borrowed")
	want := bytes.Clone(b)
	if Enabled {
		want = bytes.Repeat([]byte{PoisonByte}, len(b))
	}
	if Poison(b); !bytes.Equal(b, want) {
		t.Errorf("Poison left %q, want %q", b, want)
	}
}

// message is what f panics with, or "".
func message(f func()) (s string) {
	defer func() {
		if v := recover(); v != nil {
			s = v.(string)
		}
	}()
	f()
	return ""
}

func TestPause(t *testing.T) {
	var got []string
	OnPause(func(where string) { got = append(got, where) })
	Pause("here")
	OnPause(nil)
	Pause("there")
	if want := "here"; Enabled && (len(got) != 1 || got[0] != want) || !Enabled && got != nil {
		t.Errorf("paused at %q", got)
	}
}
