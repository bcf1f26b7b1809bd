package record

import (
	"errors"
	"fmt"
)

// The sentinels say what is wrong; the text around them says which field,
// its value and the limit. Match with errors.Is.
var (
	// ErrShort means that the bytes end before the batch does: more bytes
	// may complete it. At the end of a file that is a torn write. A damaged
	// length can look the same, so where in the file it happens decides
	// which of the two it was; that is the caller's knowledge, not ours.
	ErrShort = errors.New("record: batch is cut short")

	// ErrCorrupt means that the bytes are all there and wrong: no further
	// byte can make a batch of them.
	ErrCorrupt = errors.New("record: corrupt")

	// ErrUnsupportedMagic means a message set of magic 0 or 1, as brokers
	// before 0.11 wrote. It is well known and not read here, which is not
	// the same as damaged.
	ErrUnsupportedMagic = errors.New("record: message format 0 or 1 is not supported")

	// ErrTooLarge means that a limit on size was met: of a batch being
	// built, or of what a compressed one inflates to.
	ErrTooLarge = errors.New("record: too large")

	// ErrInvalid means that the caller asked for a batch the format has no
	// bytes for.
	ErrInvalid = errors.New("record: invalid")
)

// The functions below are where errors are formatted. They are kept out of
// line so that the paths without an error neither allocate nor grow.

//go:noinline
func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

//go:noinline
func tooLargef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTooLarge, fmt.Sprintf(format, args...))
}

//go:noinline
func invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}
