package vfs

import (
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Op is a set of operations.
type Op uint32

// The operations of FS, File and Mapping. OpenFile is OpCreate when its flags
// have os.O_CREATE, else OpOpen.
const (
	OpOpen Op = 1 << iota
	OpCreate
	OpMkdir
	OpRename
	OpRemove
	OpReadDir
	OpStat
	OpSyncDir
	OpLock
	OpReadAt
	OpWriteAt
	OpClose
	OpSize
	OpTruncate
	OpAllocate
	OpSync
	OpMap
	OpUnmap
	OpSetModTime
	opEnd
)

// AnyOp is every operation, and ChangeOp those that change what is stored.
const (
	AnyOp    = opEnd - 1
	ChangeOp = OpCreate | OpMkdir | OpRename | OpRemove | OpSyncDir | OpWriteAt | OpTruncate | OpAllocate | OpSync | OpSetModTime
)

var opNames = [...]string{
	"open", "create", "mkdir", "rename", "remove", "readdir", "stat", "syncdir", "lock",
	"read", "write", "close", "size", "truncate", "allocate", "sync", "map", "unmap", "setmodtime",
}

// String is the names of the operations in the set.
func (o Op) String() string {
	var names []string
	for i, name := range opNames {
		if o&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// Ops lists the operations in the set one by one.
func (o Op) Ops() []Op {
	var ops []Op
	for op := OpOpen; op < opEnd; op <<= 1 {
		if o&op != 0 {
			ops = append(ops, op)
		}
	}
	return ops
}

// Rule says which calls fail, and how. The zero Rule matches every call and
// only counts.
type Rule struct {
	Op    Op     // the operations it is about; 0 is AnyOp
	Path  string // a pattern as of filepath.Match for the name without its directory; "" is any
	After int    // that many matching calls pass first
	Count int    // that many fail then; 0 is all
	Err   error  // what the failing calls answer, with op and path around it (io.EOF of ReadAt: bare); nil only counts
	Short int    // bytes that a failing ReadAt or WriteAt still moves
}

// Injected is a Rule at work.
type Injected struct {
	rule            Rule
	matched, failed atomic.Int64
}

// Matched is how many calls the rule was about, failed or not.
func (i *Injected) Matched() int { return int(i.matched.Load()) }

// Failed is how many calls the rule made fail.
func (i *Injected) Failed() int { return int(i.failed.Load()) }

// Call is one call to a Faulty file system.
type Call struct {
	Op      Op
	Name    string
	NewName string // of a rename
	Off     int64  // where a read, a write or an allocation begins
	Len     int64  // bytes of those; the length of a truncation or mapping
	Err     error  // what a rule makes it answer; nil when it goes on
}

// decide counts a call and tells whether it fails.
func (i *Injected) decide(c Call) bool {
	r := i.rule
	if r.Op != 0 && r.Op&c.Op == 0 || !r.names(c.Name) && !(c.NewName != "" && r.names(c.NewName)) {
		return false
	}
	nth := i.matched.Add(1) - int64(r.After)
	if r.Err == nil || nth <= 0 || r.Count > 0 && nth > int64(r.Count) {
		return false
	}
	i.failed.Add(1)
	return true
}

func (r Rule) names(path string) bool {
	if r.Path == "" {
		return true
	}
	ok, _ := filepath.Match(r.Path, filepath.Base(path))
	return ok
}
