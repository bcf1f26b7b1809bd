package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// TestEachCallOfWriteFileFails: the file is the old one or the new one, which
// the error tells, and nothing lies beside it.
func TestEachCallOfWriteFileFails(t *testing.T) {
	for nth := 0; ; nth++ {
		m := NewMem()
		f := NewFaulty(m)
		must(t, WriteFile(m, "/a", []byte("old")))
		rule := f.Add(Rule{After: nth, Count: 1, Err: syscall.EDQUOT})
		err := WriteFile(f, "/a", []byte("new"))
		want := "old"
		if err == nil || errors.Is(err, ErrUnsettled) {
			want = "new"
		}
		wantContent(t, m, "/a", want)
		entries, readErr := m.ReadDir("/")
		must(t, readErr)
		if len(entries) != 1 {
			t.Errorf("call %d: %d files are left, want 1", nth, len(entries))
		}
		if left := f.InUse(); left != nil {
			t.Errorf("call %d: %q", nth, left)
		}
		if rule.Failed() == 0 {
			must(t, err)
			return
		}
		if !errors.Is(err, syscall.EDQUOT) || !IsFull(err) {
			t.Errorf("call %d: %v", nth, err)
		}
	}
}

// TestReadFileThatIsCut: what is cut just before it is read is read as it is then.
func TestReadFileThatIsCut(t *testing.T) {
	m := NewMem()
	must(t, WriteFile(m, "/a", []byte("content")))
	f, left := NewFaulty(m), int64(7)
	f.Trace = func(c Call) {
		if c.Op == OpReadAt && left > 2 {
			left -= 3
			file, err := m.OpenFile("/a", os.O_RDWR, 0)
			must(t, errors.Join(err, file.Truncate(left), file.Close()))
		}
	}
	got, err := ReadFile(f, "/a")
	if must(t, err); string(got) != "c" {
		t.Errorf("%q", got)
	}
}

// TestEachCallOfReadFileFails: a short read is an error, and no shorter content.
func TestEachCallOfReadFileFails(t *testing.T) {
	for _, e := range []error{syscall.EIO, io.EOF} {
		for nth := 0; ; nth++ {
			m := NewMem()
			f := NewFaulty(m)
			must(t, WriteFile(m, "/a", []byte("content")))
			r := Rule{After: nth, Count: 1, Err: e, Short: 3}
			if e == io.EOF {
				r.Op = OpReadAt
			}
			rule := f.Add(r)
			got, err := ReadFile(f, "/a")
			if rule.Failed() == 0 {
				if must(t, err); string(got) != "content" {
					t.Errorf("%q", got)
				}
				break
			}
			want := e
			if e == io.EOF {
				want = io.ErrUnexpectedEOF
			}
			if !errors.Is(err, want) || !Unreadable(err) {
				t.Errorf("call %d fails with %v: %v", nth, e, err)
			}
			if left := f.InUse(); left != nil {
				t.Errorf("call %d: %q", nth, left)
			}
		}
	}
	if _, err := ReadFile(NewMem(), "/absent"); Unreadable(err) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if Unreadable(fmt.Errorf("half a number")) {
		t.Error("what a file holds does not make it unreadable")
	}
}
