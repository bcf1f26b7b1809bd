package recovery

// For tests of the outside package.
var (
	WholeOldMessage  = wholeOldMessage
	DecodeCheckpoint = decodeCheckpoint
)

func (c *Checkpoint) Encode() []byte { return c.encode() }

const (
	MaxKeptFiles = maxKeptFiles
	MaxKeptBytes = maxKeptBytes
)
