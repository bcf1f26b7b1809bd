package power

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// logFiles reads the logs of all segments as they are before an open. Where the
// machine is not to be looked at, nobody has a directory yet.
func (x *machine) logFiles() map[string][]byte {
	files := map[string][]byte{}
	entries, err := x.mem.ReadDir(x.dir)
	if err != nil {
		return files
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), segment.LogSuffix) {
			continue
		}
		content, err := vfs.ReadFile(x.mem, filepath.Join(x.dir, e.Name()))
		x.must(err, "reading what is left")
		files[e.Name()] = content
	}
	return files
}

// keptAside wants the bytes that an open took off the end of the log beside it,
// unless they are zeros or were being dropped.
func (x *machine) keptAside(before map[string][]byte) {
	if x.set.role == oldStyle {
		return // it cuts itself to its high watermark
	}
	r := x.l.Recovery()
	for name, content := range before {
		content = bytes.TrimRight(content, "\x00")
		after, err := vfs.ReadFile(x.mem, filepath.Join(x.dir, name))
		if err == nil && len(after) >= len(content) {
			continue
		}
		if slices.ContainsFunc(r.Actions, func(a recovery.Action) bool { return a.Kind == recovery.Finish }) {
			continue // compaction had come so far
		}
		i := slices.IndexFunc(r.Actions, func(a recovery.Action) bool { return a.Name == name })
		if i < 0 {
			x.failf("%s lost %d bytes in opening, by none of %v", name, len(content)-len(after), r.Actions)
		}
		a := r.Actions[i]
		dropping := r.Checkpoint != nil && r.Checkpoint.Dropping
		switch {
		case a.To == "" && (dropping || a.Kind == recovery.Remove && a.Segment < r.LogStart):
		case a.To == "":
			x.failf("bytes that are not zero are not kept: %v", a)
		case !x.isKept(a, content):
			x.failf("what was taken out is not in %s: %v", a.To, a)
		}
	}
}

// isKept says whether a file of what was taken out has the end of content.
func (x *machine) isKept(a recovery.Action, content []byte) bool {
	kept, err := vfs.ReadFile(x.mem, filepath.Join(x.dir, a.To))
	if a.Kind == recovery.Cut {
		content = content[min(a.Size, int64(len(content))):]
	}
	return err == nil && bytes.Equal(bytes.TrimRight(kept, "\x00"), content)
}
