package segment

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
)

// pieces is a file that is written ahead as the test lets it: each piece takes a
// turn, and the error it brings.
type pieces struct {
	vfs.File
	turns chan error
}

func (p *pieces) WriteAt(b []byte, at int64) (int, error) {
	if err := <-p.turns; err != nil {
		return 0, err
	}
	return p.File.WriteAt(b, at)
}

func (p *pieces) WriteBack(int64, int64) {}

// TestFollowedPieceByPiece: an appender waits for the piece it needs and not for the
// whole run, and of a run that failed it has what was written before.
func TestFollowedPieceByPiece(t *testing.T) {
	const piece = 4 << 10 // of a log of which nothing tells yet
	s, wrote := writes(t)
	add(t, s, 100)
	ahead := &pieces{s.w.log.file, make(chan error, 3)}
	s.w.log.ahead.file = ahead
	for s.w.log.ahead.written == nil {
		add(t, s, 1000)
	}
	begun := s.w.log.prepared
	ahead.turns <- nil
	ahead.turns <- nil
	late := time.AfterFunc(30*time.Second, func() { close(ahead.turns) })
	for s.Size() < begun+piece {
		add(t, s, 1000)
	}
	require.True(t, late.Stop(), "two pieces are there, and the appender waited for others")
	ahead.turns <- errors.New("no room")
	s.w.log.settle()
	require.Equal(t, begun+2*piece, s.w.log.prepared)
	require.Nil(t, s.w.log.ahead.file, "nothing is written ahead any more")

	*wrote = nil
	for s.Size() < begun+2*window {
		add(t, s, 1000)
	}
	require.Equal(t, begun+2*piece, (*wrote)[0].Off, "the appender goes on where that ended")
}
