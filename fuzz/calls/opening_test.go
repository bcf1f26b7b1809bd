package calls

import (
	"github.com/seglog/seglog/log"
)

func mode(m log.Mode) func(*log.Options) { return func(o *log.Options) { o.Mode = m } }

func open(w *world) (string, error) { return "", w.open() }

// opening are Open in each mode, of each state that it may find.
var opening = []scenario{
	{name: "open/nothing", state: nothing},
	{name: "open/clean", state: clean},
	{name: "open/killed", state: killed},
	{name: "open/torn", state: torn},
	{name: "open/a DropFrom half done", state: dropping},
	{name: "open/a DropBefore half done", state: trimmed},
	{name: "open/a replacement half done", state: replacing},
	{name: "open/a replacement half begun", state: unreplaced},
	{name: "open/leftovers", state: littered},
	{name: "open/no derived files", state: unindexed},
	{name: "open/Kafka's", state: kafkas},
	{name: "open read-only/clean", state: clean, opts: mode(log.ReadOnly)},
	{name: "open read-only/killed", state: killed, opts: mode(log.ReadOnly)},
	{name: "open read-only/torn", state: torn, opts: mode(log.ReadOnly)},
	{name: "open read-only/a DropBefore half done", state: trimmed, opts: mode(log.ReadOnly)},
	{name: "open read-only/a DropFrom half done", state: dropping, opts: mode(log.ReadOnly)},
	{name: "open read-only/leftovers", state: littered, opts: mode(log.ReadOnly)},
	{name: "open read-only/no derived files", state: unindexed, opts: mode(log.ReadOnly)},
	{name: "open read-only/Kafka's", state: kafkas, opts: mode(log.ReadOnly)},
	{name: "open to repair/clean", state: clean, opts: mode(log.Repair)},
	{name: "open to repair/damaged", state: damaged, opts: mode(log.Repair)},
	{name: "open to repair/Kafka's", state: kafkas, opts: mode(log.Repair)},
	{name: "open as a follower/clean", state: clean, opts: mode(log.Follower)},
	{name: "open as a follower/killed", state: killed, opts: mode(log.Follower)},
	{name: "open as a follower/beyond the high watermark", state: followed, opts: mode(log.Follower)},
	{name: "open as a follower/Kafka's", state: kafkas, opts: mode(log.Follower)},
}

func init() {
	for i := range opening {
		opening[i].opens, opening[i].do = true, open
	}
}
