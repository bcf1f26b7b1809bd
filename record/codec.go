package record

import "fmt"

// Codec is how the records of a batch are compressed: the lowest three bits
// of its attributes (compression.type).
type Codec int8

const (
	None   Codec = 0
	Gzip   Codec = 1
	Snappy Codec = 2
	LZ4    Codec = 3
	Zstd   Codec = 4 // since Kafka 2.1, KIP-110
)

var codecNames = [...]string{None: "none", Gzip: "gzip", Snappy: "snappy", LZ4: "lz4", Zstd: "zstd"}

// String gives the name that Kafka's configuration uses.
func (c Codec) String() string {
	if c.valid() {
		return codecNames[c]
	}
	return fmt.Sprintf("Codec(%d)", int8(c))
}

// ParseCodec is the inverse of [Codec.String]. Names are lower case.
// Anything else is ErrInvalid.
func ParseCodec(name string) (Codec, error) {
	for c, n := range codecNames {
		if n == name {
			return Codec(c), nil
		}
	}
	return None, invalidf("codec %q, want one of %v", name, codecNames)
}

func (c Codec) valid() bool { return c >= 0 && int(c) < len(codecNames) }
