package kafkadir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
)

// The names of files of a log directory.
const (
	MetaFile          = "meta.properties"
	CleanShutdownFile = ".kafka_cleanshutdown"
	LockFile          = ".lock"
)

// CleanShutdown is what this engine has in the clean-shutdown file. To Kafka 3.7
// and later it is that of a broker whose epoch is not known; older ones look at
// its name only. The order of the fields is one that Kafka never writes, so that
// as long as this is there nobody else has had the directory: a broker takes the
// file away when it starts.
const CleanShutdown = `{"brokerEpoch":-1,"version":0}`

// Meta is meta.properties: who a log directory belongs to.
type Meta struct {
	Version     int
	NodeID      int32 // broker.id in version 0; -1 for none
	ClusterID   string
	DirectoryID string // "" before Kafka 3.7
}

// ReadMeta reads a log directory's meta.properties; it is nil where there is
// none.
func ReadMeta(fsys vfs.FS, dir string) (*Meta, error) {
	name := filepath.Join(dir, MetaFile)
	text, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := DecodeMeta(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// DecodeMeta reads the text of meta.properties.
func DecodeMeta(text []byte) (*Meta, error) {
	p, err := Properties(string(text))
	if err != nil {
		return nil, err
	}
	m := &Meta{NodeID: -1, ClusterID: p["cluster.id"], DirectoryID: p["directory.id"]}
	if v, ok := p["version"]; ok {
		if m.Version, err = strconv.Atoi(v); err != nil || m.Version < 0 || m.Version > 1 {
			return nil, fmt.Errorf("version %q, want 0 or 1", v)
		}
	}
	key := [...]string{"broker.id", "node.id"}[m.Version]
	if v, ok := p[key]; ok {
		id, err := strconv.ParseInt(v, 10, 32)
		if err != nil || id < 0 {
			return nil, fmt.Errorf("%s %q", key, v)
		}
		m.NodeID = int32(id)
	}
	if m.Version == 1 && (m.NodeID < 0 || m.ClusterID == "") {
		return nil, errors.New("version 1 without node.id or cluster.id")
	}
	return m, nil
}

// Properties reads the Java format as far as Java writes it: a line for each
// pair, with escapes, and comments.
func Properties(text string) (map[string]string, error) {
	pairs := make(map[string]string)
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimLeft(line, " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		end := 0
		for end < len(line) && !strings.ContainsRune("=: \t\f", rune(line[end])) {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		key, err := unescape(line[:min(end, len(line))])
		if err != nil {
			return nil, err
		}
		value := strings.TrimLeft(line[min(end, len(line)):], " \t\f")
		if value != "" && (value[0] == '=' || value[0] == ':') {
			value = strings.TrimLeft(value[1:], " \t\f")
		}
		if pairs[key], err = unescape(value); err != nil {
			return nil, err
		}
	}
	return pairs, nil
}

// unescape resolves a backslash before a letter or four hex digits.
func unescape(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte("tnrf", s[i]); at >= 0 {
			b.WriteByte("\t\n\r\f"[at])
			continue
		}
		if s[i] != 'u' {
			b.WriteByte(s[i])
			continue
		}
		digits := s[i+1 : min(i+5, len(s))]
		r, err := strconv.ParseUint(digits, 16, 16)
		if err != nil || len(digits) != 4 {
			return "", fmt.Errorf("escape %q", digits)
		}
		b.WriteRune(rune(r))
		i += 4
	}
	return b.String(), nil
}

// WriteMeta replaces a log directory's meta.properties. Ids are of letters,
// digits, - and _, which the format needs no escapes for.
func WriteMeta(fsys vfs.FS, dir string, m *Meta) error {
	text := fmt.Sprintf("version=%d\n%s=%d\n", m.Version, [...]string{"broker.id", "node.id"}[m.Version], m.NodeID)
	if m.ClusterID != "" {
		text += "cluster.id=" + m.ClusterID + "\n"
	}
	if m.DirectoryID != "" {
		text += "directory.id=" + m.DirectoryID + "\n"
	}
	if back, err := DecodeMeta([]byte(text)); err != nil || *back != *m {
		return fmt.Errorf("kafkadir: %+v cannot be written as %s: %w", *m, MetaFile, err)
	}
	return vfs.WriteFile(fsys, filepath.Join(dir, MetaFile), []byte(text))
}
