package rot

import "strings"

// exception is a flip that nobody may notice, and why.
type exception struct {
	variety, file, field string // prefixes; "" is any
	states               string
	why                  string
}

// unnoticed lists all of them.
var unnoticed = []exception{
	{"compact-0", ".log", "baseOffset", "closed killed foreign",
		"no checksum covers a base offset; moved within a gap that compaction left, it contradicts nothing. verify sees it by the seal"},
	{"", ".log", "baseOffset of the last", "killed foreign",
		"nothing follows the last batch of all that a raised base offset would reach into, and no checkpoint knows the end"},
	{"", "leader-epoch-checkpoint", "", "foreign",
		"the file has no checksum, and an entry that begins late is how one looks after records were deleted"},
	{"", "leader-epoch-checkpoint", "", "killed",
		"beyond the checkpoint one batch stands against the file, and either may be the one that is wrong"},
}

// unverified lists what verify may pass.
var unverified = []exception{
	{"compact-0", ".log", "baseOffset", "foreign killed", "as above, and there is no seal"},
	{"", ".log", "baseOffset of the last", "foreign killed", "as above"},
	{"", ".log", "leaderEpoch", "foreign killed closed", "of a batch below the log start nothing is known"},
}

func excused(list []exception, b *built, file, field string) bool {
	for _, x := range list {
		if strings.HasPrefix(b.name, x.variety) && strings.HasSuffix(file, x.file) && strings.HasPrefix(field, x.field) &&
			strings.Contains(x.states, string(b.state)) {
			return true
		}
	}
	return false
}
