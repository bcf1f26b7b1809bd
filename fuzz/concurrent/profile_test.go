package concurrent

import "github.com/seglog/seglog/log"

// profile is what the clients of a history do, with weights. Some things the
// specification tells apart only if others are left out: which of several
// segments Retain drops while compaction makes others of them, say.
type profile struct {
	name      string
	levels    []log.Isolation
	do        []weighted
	compacted bool
}

type weighted struct {
	weight int
	do     func(*client)
}

var upToEnd = []log.Isolation{log.UpToEnd}

var reads = []weighted{
	{5, (*client).read}, {4, (*client).walk}, {3, (*client).borrow}, {2, (*client).offsetAt}, {8, (*client).mark},
}

var profiles = []profile{
	{name: "append", levels: upToEnd, do: []weighted{
		{12, (*client).append}, {4, (*client).appendSync}, {2, (*client).sync}, {2, (*client).setLeaderEpoch}}},
	{name: "drop", levels: upToEnd, do: []weighted{
		{14, (*client).append}, {3, (*client).appendSync}, {1, (*client).sync}, {1, (*client).setLeaderEpoch},
		{3, (*client).dropBefore}, {5, (*client).dropFrom}}},
	{name: "retain", levels: upToEnd, do: []weighted{
		{14, (*client).append}, {1, (*client).dropBefore}, {4, (*client).dropFrom}, {6, (*client).retain}}},
	{name: "high watermark", levels: []log.Isolation{log.UpToEnd, log.ReadUncommitted}, do: []weighted{
		{12, (*client).append}, {6, (*client).setHighWatermark}, {2, (*client).dropBefore}, {3, (*client).dropFrom}}},
	{name: "idempotence", levels: upToEnd, do: []weighted{
		{10, (*client).produce}, {8, (*client).again}, {2, (*client).append}, {2, (*client).dropFrom}}},
	{name: "transactions", levels: []log.Isolation{log.ReadCommitted, log.ReadCommitted, log.UpToEnd}, do: []weighted{
		{14, (*client).transact}, {2, (*client).append}, {2, (*client).dropBefore}}},
	{name: "transactions replicated", levels: []log.Isolation{log.ReadCommitted, log.ReadUncommitted, log.ReadCommitted}, do: []weighted{
		{14, (*client).transact}, {1, (*client).append}, {6, (*client).setHighWatermark}}},
	{name: "transactions cut", levels: []log.Isolation{log.ReadCommitted, log.ReadCommitted, log.UpToEnd}, do: []weighted{
		{14, (*client).transact}, {2, (*client).append}, {4, (*client).dropFrom}}},
	{compacted: true, name: "compaction", levels: upToEnd, do: []weighted{
		{14, (*client).append}, {4, (*client).compact}, {2, (*client).dropBefore}, {1, (*client).sync}}},
	{compacted: true, name: "compaction and transactions", levels: []log.Isolation{log.ReadCommitted, log.UpToEnd}, do: []weighted{
		{14, (*client).transact}, {4, (*client).append}, {5, (*client).compact}}},
}

// pick picks by weight.
func pick(n func(int) int, lists ...[]weighted) func(*client) {
	total := 0
	for _, list := range lists {
		for _, w := range list {
			total += w.weight
		}
	}
	at := n(total)
	for _, list := range lists {
		for _, w := range list {
			if at -= w.weight; at < 0 {
				return w.do
			}
		}
	}
	panic("unreachable")
}
