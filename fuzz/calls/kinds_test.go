package calls

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/seglog/seglog/internal/vfs"
)

// errnos are the errors that any call may answer.
var errnos = []struct {
	name string
	err  error
}{
	{"EIO", syscall.EIO},
	{"ENOSPC", syscall.ENOSPC},
	{"EDQUOT", syscall.EDQUOT},
	{"EMFILE", syscall.EMFILE},
	{"EINTR", syscall.EINTR},
}

// fault is how a call fails.
type fault struct {
	name  string
	rules []vfs.Rule // once at a call
	err   error      // of the call
	short int        // bytes that it moves all the same
	want  error      // what the operation's error has to be
}

// faultsOf are the ways in which a call can fail. Transfers are short in front
// of an error; without one they never are: os.File goes on until all bytes are
// moved, or there is an error, which at the end of a file is io.EOF.
func faultsOf(c vfs.Call) (list []fault) {
	for _, e := range errnos {
		// An index is taken for one without room when it is not there: a file
		// that is there is opened without any.
		index := strings.HasSuffix(c.Name, "index") && c.Op&(vfs.OpOpen|vfs.OpCreate|vfs.OpSize|vfs.OpMap) != 0
		if index && vfs.IsFull(e.err) {
			continue
		}
		list = append(list, fault{name: e.name, err: e.err, want: e.err})
	}
	half := int(c.Len / 2)
	switch c.Op {
	case vfs.OpReadAt:
		list = append(list, fault{name: "EIO after 1", err: syscall.EIO, short: 1, want: syscall.EIO},
			fault{name: "EIO after half", err: syscall.EIO, short: half, want: syscall.EIO})
		list = append(list, fault{name: "EOF", err: io.EOF, want: io.ErrUnexpectedEOF})
		if half > 0 {
			list = append(list, fault{name: "EOF after half", err: io.EOF, short: half, want: io.ErrUnexpectedEOF})
		}
		if half > 1 {
			list = append(list, fault{name: "EOF after 1", err: io.EOF, short: 1, want: io.ErrUnexpectedEOF})
		}
	case vfs.OpWriteAt:
		list = append(list, fault{name: "ENOSPC after 1", err: syscall.ENOSPC, short: 1, want: syscall.ENOSPC},
			fault{name: "EIO after half", err: syscall.EIO, short: half, want: syscall.EIO},
			fault{name: "EDQUOT after half", err: syscall.EDQUOT, short: half, want: syscall.EDQUOT})
	}
	return list
}

// modes are how the failure goes on.
var modes = []struct {
	name string
	// rules make the nth of the calls fail so, and more; none where that cannot be.
	rules func(f fault, calls []vfs.Call, nth int) []vfs.Rule
}{
	{"once", func(f fault, _ []vfs.Call, nth int) []vfs.Rule {
		return []vfs.Rule{{Err: f.err, Short: f.short, After: nth, Count: 1}}
	}},
	// One of the next calls fails as well: of what is done about the first one, it
	// may be, or of what comes when that is passed over.
	{"twice", func(f fault, _ []vfs.Call, nth int) []vfs.Rule {
		second := f.err
		if second == io.EOF {
			second = syscall.EIO
		}
		return []vfs.Rule{
			{Err: f.err, Short: f.short, After: nth, Count: 1},
			{Err: second, After: nth + 1 + nth%3, Count: 1},
		}
	}},
	// It stays: the device is gone, the disk full, or there are no descriptors.
	{"stays", func(f fault, calls []vfs.Call, nth int) []vfs.Rule {
		ops := lasting[f.name]
		if ops&calls[nth].Op == 0 {
			return nil
		}
		before := 0
		for _, c := range calls[:nth] {
			if ops&c.Op != 0 {
				before++
			}
		}
		return []vfs.Rule{{Op: ops, Err: f.err, After: before}}
	}},
}

// lasting are the operations that an error strikes as long as its cause is there.
// A signal is no cause that stays, and a call that moves some bytes moves none
// when it is made again.
var lasting = map[string]vfs.Op{
	"EIO":    vfs.AnyOp,
	"ENOSPC": vfs.OpCreate | vfs.OpMkdir | vfs.OpRename | vfs.OpWriteAt | vfs.OpAllocate | vfs.OpSync | vfs.OpSyncDir,
	"EDQUOT": vfs.OpCreate | vfs.OpMkdir | vfs.OpRename | vfs.OpWriteAt | vfs.OpAllocate,
	"EMFILE": vfs.OpOpen | vfs.OpCreate | vfs.OpReadDir | vfs.OpLock | vfs.OpSyncDir,
}

// reports says whether an error is one that was injected.
func (f fault) reports(err error) bool {
	if errors.Is(err, f.want) {
		return true
	}
	return len(f.rules) > 1 && errors.Is(err, f.rules[1].Err)
}

func describe(c vfs.Call) string {
	if c.NewName != "" {
		return fmt.Sprintf("%s %s to %s", c.Op, c.Name, c.NewName)
	}
	return fmt.Sprintf("%s %s at %d, %d bytes", c.Op, c.Name, c.Off, c.Len)
}
