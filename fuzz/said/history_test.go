package said

import (
	"fmt"
	"strings"
	"testing"
)

// found lists the lines of a log that holds [first, end) with the records of
// those lines, a digest of none of them in front.
func foundLines(first, end int, records ...string) []string {
	lines := []string{fmt.Sprintf("open %d %d false", first, end), fmt.Sprintf("h %d %x", min(first, end), NewDigest().Sum())}
	for _, r := range records {
		lines = append(lines, "r "+r)
	}
	return append(lines, "ready")
}

// cutOf is a log that held nothing, the lines of the boot before a cut, and what
// was found after it.
type cutOf struct {
	said  string // lines, separated by ;
	first int
	end   int
	found string // records, separated by ;
	wrong string // what the error says; "" for none
}

func (c cutOf) judge(t *testing.T, keyed bool) {
	t.Helper()
	h := NewHistory(keyed, false)
	for _, l := range foundLines(0, 0) {
		if err := h.Hear(0, l); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range strings.Split(c.said, ";") {
		if l = strings.TrimSpace(l); l != "" {
			if err := h.Hear(0, l); err != nil {
				t.Fatal(err)
			}
		}
	}
	var records []string
	for _, r := range strings.Split(c.found, ";") {
		if r = strings.TrimSpace(r); r != "" {
			records = append(records, r)
		}
	}
	var err error
	h.Booted()
	lines := foundLines(c.first, c.end, records...)
	for _, l := range lines {
		if err == nil {
			err = h.Hear(1, l)
		}
	}
	switch {
	case c.wrong == "" && err != nil:
		t.Errorf("%+v: %v", c, err)
	case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
		t.Errorf("%+v: %v, want one that says %q", c, err, c.wrong)
	case c.wrong == "" && (h.durable != int64(c.end) || h.Known() != int64(c.end) && !keyed):
		t.Errorf("%+v: afterwards durable is %d, known %d", c, h.durable, h.Known())
	}
}

// TestHistory: each way in which a log can break its promise is noticed, and
// none that keeps them.
func TestHistory(t *testing.T) {
	const two = "a 0 0 0 1; a 0 1 1 2"                        // records 0; 1 and 2, durable
	const all = "0 0 0 0 1; 1 0 1 0 2; 2 0 1 1 2"             // as they are found
	const more = two + "; p 0 2 3 1; p 1 0 4 1"               // and 3, 4, which may be lost
	const allMore = all + "; 3 0 2 0 1; 4 1 0 0 1"            // as they are found
	const dropped = two + "; tf 1"                            // a DropFrom under way, of the batch at 1
	const dropDone = dropped + "; f 1; a 0 2 1 1"             // and done, and appended behind
	const front = two + "; a 0 2 3 1; tb 2"                   // a DropBefore under way
	const unordered = "p 0 0 0 1; p 1 0 1 1; a 0 1 3 1; s 4"  // 2 was not said when the power went
	const unorderedFound = "0 0 0 0 1; 1 1 0 0 1; 3 0 1 0 1;" // without 2
	for _, c := range []cutOf{
		{said: two, end: 3, found: all},
		{said: two, end: 2, found: "0 0 0 0 1; 1 0 1 0 2", wrong: "LOST"},
		{said: two, end: 0, wrong: "LOST"},
		{said: two, end: 3, found: "0 0 0 0 1; 2 0 1 1 2", wrong: "LOST"},                    // a hole
		{said: two, end: 3, found: "0 0 0 0 1; 1 0 1 0 2", wrong: "LOST"},                    // the last is missing
		{said: two, end: 3, found: "0 0 0 0 1; 1 0 1 1 2; 2 0 1 0 2", wrong: "want 0 1 0 2"}, // exchanged
		{said: two, end: 4, found: all + "; 3 0 1 1 2", wrong: "INVENTED"},                   // twice
		{said: two, end: 4, found: all + "; 3 5 9 0 1", wrong: "INVENTED"},                   // nobody's
		{said: two, end: 4, found: all + "; 3 0 2 0 1"},                                      // not heard of
		{said: two, end: 5, found: all + "; 3 0 2 0 1; 4 1 0 0 1"},                           // two writers
		{said: two, end: 5, found: all + "; 3 0 2 0 1; 4 0 3 0 1", wrong: "INVENTED"},        // it waited for 2
		{said: two, end: 4, found: all + "; 3 0 2 0 2", wrong: "TORN"},                       // the batch has 2
		{said: two, end: 5, found: all + "; 3 0 2 0 3; 4 0 2 1 3", wrong: "TORN"},            // or 3
		{said: two, first: 1, end: 3, found: "1 0 1 0 2; 2 0 1 1 2", wrong: "starts at 1"},   // nobody dropped
		{said: more, end: 3, found: all},                                                     // lost, rightly
		{said: more, end: 4, found: all + "; 3 0 2 0 1"},                                     // in part
		{said: more, end: 5, found: allMore},                                                 // or not
		{said: more, end: 4, found: all + "; 3 1 0 0 1", wrong: "want 0 2 0 1"},              // 3 lost, 4 in its place
		{said: more + "; s 5", end: 4, found: all + "; 3 0 2 0 1", wrong: "LOST"},            // but they were synced
		{said: dropped, end: 3, found: all},                                                  // not begun
		{said: dropped, end: 1, found: "0 0 0 0 1"},                                          // done
		{said: dropped, end: 2, found: "0 0 0 0 1; 1 0 1 0 2", wrong: "LOST"},                // in the middle of a batch
		{said: dropped, end: 0, wrong: "LOST"},                                               // too much
		{said: two + "; tf 2", end: 1, found: "0 0 0 0 1"},                                   // batches go whole
		{said: dropDone, end: 2, found: "0 0 0 0 1; 1 0 2 0 1"},                              //
		{said: dropDone, end: 3, found: all, wrong: "want 0 2 0 1"},                          // back again
		{said: dropped + "; f 1", end: 3, found: all, wrong: "INVENTED"},                     // back again
		{said: front, end: 4, found: all + "; 3 0 2 0 1"},                                    // not begun
		{said: front, first: 2, end: 4, found: "2 0 1 1 2; 3 0 2 0 1"},                       // done
		{said: front, first: 3, end: 4, found: "3 0 2 0 1", wrong: "starts at 3"},            // too much
		{said: front + "; b 2", end: 4, found: all + "; 3 0 2 0 1", wrong: "starts at 0"},    // back again
		{said: unordered, end: 4, found: unorderedFound, wrong: "LOST"},                      // a hole that nobody spoke of
		{said: unordered, end: 4, found: "0 0 0 0 1; 1 1 0 0 1; 2 1 1 0 1; 3 0 1 0 1;"},      // filled
		{said: "p 0 0 0 1; s 1", end: 1, found: "0 0 0 0 1"},                                 //
		{said: "", end: 0},                                                                      //
		{said: "", end: 1, found: "0 0 0 0 1"},                                                  // not heard of
		{said: "", end: 1, found: "0 0 7 0 1", wrong: "INVENTED"},                               //
		{said: "", first: 0, end: 2, found: "0 0 0 0 1", wrong: "LOST"},                         // it ends elsewhere
		{said: "p 0 0 0 1; n recovery: cut 0.log: zeros", first: 0, end: 1, found: "0 0 0 0 1"}, // a note
	} {
		c.judge(t, false)
	}
}

// TestHistoryOfKeys: compaction may take what is superseded, and nothing else.
func TestHistoryOfKeys(t *testing.T) {
	key := func(writer int) string { return string(Key(ID{Writer: writer, Count: 1})) }
	older, other, newer := 0, 1, 1
	for key(newer) != key(older) {
		newer++
	}
	for key(other) == key(older) {
		other++
	}
	lines := fmt.Sprintf("a %d 0 0 1; a %d 0 1 1; a %d 0 2 1", older, other, newer)
	first, second, third := fmt.Sprintf("0 %d 0 0 1;", older), fmt.Sprintf("1 %d 0 0 1;", other), fmt.Sprintf("2 %d 0 0 1;", newer)
	for _, c := range []cutOf{
		{said: lines, end: 3, found: first + second + third},
		{said: lines, end: 3, found: second + third},
		{said: lines, end: 3, found: first + second, wrong: "LOST"},
		{said: lines, end: 3, found: second, wrong: "LOST"},
		{said: lines, end: 3, found: first + third, wrong: "LOST"},
		{said: lines, end: 2, found: first + second, wrong: "LOST"},
		{said: lines, end: 3, found: third + second, wrong: "ascend"},
	} {
		c.judge(t, true)
	}
}

// TestHistoryGoesOn: a boot that is cut before it says what it found changes
// nothing, and a digest stands for what was there before.
func TestHistoryGoesOn(t *testing.T) {
	h := NewHistory(false, false)
	hear := func(boot int, lines ...string) (err error) {
		h.Booted()
		for _, l := range lines {
			if err == nil {
				err = h.Hear(boot, l)
			}
		}
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(hear(0, append(foundLines(0, 0), "a 0 0 0 2")...))
	must(hear(1, "opening", "open 0 2 false"))
	must(hear(2, foundLines(0, 2, "0 0 0 0 2", "1 0 0 1 2")...))
	digest := NewDigest()
	digest.Add(0, ID{Count: 2})
	digest.Add(1, ID{Index: 1, Count: 2})
	sum := fmt.Sprintf("h 2 %x", digest.Sum())
	must(hear(3, "open 0 3 false", sum, fmt.Sprintf("r 2 1 %d 0 1", 2*PerBoot), "ready"))
	if err := hear(4, "open 0 3 false", fmt.Sprintf("h 3 %x", digest.Sum()), "ready"); err == nil || !strings.Contains(err.Error(), "LOST") {
		t.Errorf("a digest that lacks a record: %v", err)
	}
	if err := hear(4, "open 0 3 false", "r 0 0"); err == nil {
		t.Error("a line that is cut short makes sense")
	}
	if err := hear(4, "opened"); err == nil {
		t.Error("a line that nobody says makes sense")
	}
	if err := h.Hear(4, "! open: no such thing"); err == nil || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("the store's own error: %v", err)
	}
}
