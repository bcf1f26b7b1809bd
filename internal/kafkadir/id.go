package kafkadir

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
)

// ID is a topic's or a directory's id. The zero value is none.
type ID [16]byte

// NewID is a random id (UUID version 4). Like Kafka's it does not begin with
// "-" when it is written, which a command line would take for a flag.
func NewID() ID {
	for {
		var id ID
		_, _ = rand.Read(id[:]) // it never fails
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
		if id.String()[0] != '-' {
			return id
		}
	}
}

// String is the id as files and tools write it.
func (id ID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// Hex is the id as directories' names have it.
func (id ID) Hex() string { return hex.EncodeToString(id[:]) }

// ParseID reads what String writes.
func ParseID(text string) (id ID, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != len(id) {
		return ID{}, fmt.Errorf("%q is no id", text)
	}
	return ID(b), nil
}

// MetadataFile is the name of a partition's file with its topic's id.
const MetadataFile = "partition.metadata"

// ReadTopicID is the topic id noted in a partition's directory, none where no
// file is.
func ReadTopicID(fsys vfs.FS, dir string) (ID, error) {
	name := filepath.Join(dir, MetadataFile)
	text, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return ID{}, nil
	}
	if err != nil {
		return ID{}, err
	}
	id, err := decodeMetadata(string(text))
	if err != nil {
		return ID{}, fmt.Errorf("%s: %w", name, err)
	}
	return id, nil
}

// WriteTopicID notes a topic id in a partition's directory.
func WriteTopicID(fsys vfs.FS, dir string, id ID) error {
	return vfs.WriteFile(fsys, filepath.Join(dir, MetadataFile), []byte("version: 0\ntopic_id: "+id.String()))
}

func decodeMetadata(text string) (id ID, err error) {
	var version, topic string
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "version":
			version = strings.TrimSpace(value)
		case "topic_id":
			topic = strings.TrimSpace(value)
		}
	}
	if version == "" || strings.Trim(version, "0123456789") != "" {
		return ID{}, fmt.Errorf("version %q", version)
	}
	id, err = ParseID(topic)
	if err == nil && id == (ID{}) {
		err = errors.New("the topic id is zero")
	}
	return id, err
}
