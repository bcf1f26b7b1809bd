package broker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
)

// StateFile is the file in the broker's directory that has what the directories
// of partitions do not tell: see the package comment.
const StateFile = "seglog.broker"

// state is that file's content: JSON on one line, and the xxhash64 of that line
// in hex on the next.
type state struct {
	Version int `json:"version"`
	// NextProducerID is the first producer id that was not set aside yet.
	NextProducerID int64                  `json:"nextProducerId"`
	Topics         map[string]*topicState `json:"topics"`
	// Broker and Cluster are what was altered, of this broker and of all.
	Broker  map[string]string `json:"broker,omitempty"`
	Cluster map[string]string `json:"cluster,omitempty"`
}

// topicState is a topic in the file. It is written before the directories of
// partitions are made or removed, and again after, so that a crash between the
// two is seen: see settle.
type topicState struct {
	ID         string `json:"id"`
	Partitions int32  `json:"partitions"`
	// Settled is how many partitions were there for sure.
	Settled int32 `json:"settled"`
	// Deleting says that the topic is to go.
	Deleting bool              `json:"deleting,omitempty"`
	Configs  map[string]string `json:"configs,omitempty"`
}

const stateVersion = 1

// readState reads the file; a directory without one has the zero state.
func readState(fsys vfs.FS, dir string) (*state, error) {
	s := &state{Version: stateVersion, Topics: make(map[string]*topicState)}
	name := filepath.Join(dir, StateFile)
	content, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if err := s.decode(content); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w: it has the configurations of topics, without which records could be dropped that were to be kept; "+
			"put a copy of it back, or remove it for topics to get the defaults", name, err)
	}
	return s, nil
}

func (s *state) decode(content []byte) error {
	line, sum, ok := bytes.Cut(content, []byte("\n"))
	if !ok {
		return errors.New("it is cut short")
	}
	if want := checksum(line); string(bytes.TrimSpace(sum)) != want {
		return fmt.Errorf("its checksum is %q, want %q", bytes.TrimSpace(sum), want)
	}
	if err := json.Unmarshal(line, s); err != nil {
		return err
	}
	if s.Version != stateVersion {
		return fmt.Errorf("its version is %d, want %d", s.Version, stateVersion)
	}
	for name, t := range s.Topics {
		if t == nil || !kafkadir.ValidTopic(name) || t.Partitions < 1 || t.Settled < 0 || t.Settled > t.Partitions {
			return fmt.Errorf("topic %q", name)
		}
		if _, err := kafkadir.ParseID(t.ID); err != nil {
			return fmt.Errorf("topic %q: %w", name, err)
		}
	}
	return nil
}

// write replaces the file, durably.
func (s *state) write(fsys vfs.FS, dir string) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return vfs.WriteFile(fsys, filepath.Join(dir, StateFile), append(line, "\n"+checksum(line)+"\n"...))
}

func checksum(line []byte) string { return strconv.FormatUint(xxhash.Sum64(line), 16) }

func (t *topicState) id() kafkadir.ID {
	id, _ := kafkadir.ParseID(t.ID) // it was parsed when it was read, or made here
	return id
}
