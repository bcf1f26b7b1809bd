package record

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/testkit"
)

// Every batch that Kafka wrote parses, validates and, where it is not
// compressed and nothing was taken out of it, is built again byte for byte.
func TestKafkaDirsValidate(t *testing.T) {
	var files, batches, rebuilt, legacy int
	err := filepath.WalkDir(testkit.KafkaDirs(t), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".log" {
			return err
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		files++
		var d Decoder
		for len(b) > 0 && len(bytes.Trim(b[:min(len(b), HeaderSize)], "\x00")) > 0 {
			batch, err := Parse(b)
			if errors.Is(err, ErrUnsupportedMagic) {
				legacy++
				break
			}
			require.NoError(t, err, path)
			require.NoError(t, Validate(batch, &d), path)
			batches++
			if raw, ok := rebuild(t, batch); ok {
				require.Equal(t, batch.Bytes(), raw, path)
				rebuilt++
			}
			b = b[batch.Size:]
		}
		return nil
	})
	require.NoError(t, err)
	t.Logf("%d files, %d batches, %d of them rebuilt; %d files of magic 0 or 1", files, batches, rebuilt, legacy)
	require.NotZero(t, rebuilt)
	require.NotZero(t, legacy)
}

// Every record is the one that Kafka's own consumer was handed.
func TestKafkaDirsExpected(t *testing.T) {
	lists, err := filepath.Glob(filepath.Join(testkit.KafkaDirs(t), "expected-*.txt"))
	require.NoError(t, err)
	for _, list := range lists {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(list), "expected-"), ".txt")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(list)
			require.NoError(t, err)
			lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			got := expectedLines(t, filepath.Dir(list), name)
			for i, line := range lines {
				if strings.HasPrefix(line, "#") {
					continue
				}
				f := strings.Split(line, "\t")
				if !strings.HasPrefix(f[6], "control:") { // the state of a transaction is not known to a record
					line = strings.Join(f[:6], "\t")
				}
				require.Equal(t, line, got[f[0]], "line %d", i+1)
			}
		})
	}
}

// expectedLines renders the records of the log that the list is about, by
// offset.
func expectedLines(t *testing.T, root, name string) map[string]string {
	dirs := map[string]string{
		"retention-all": "retention/retention-all-0", "retention-front": "retention/retention-front-0",
		"suffix-moving": "suffix-dirs/data/moving-0", "suffix-stays": "suffix-dirs/data/stays-0",
	}
	pattern := filepath.Join(root, name, "*-0", "*.log")
	if dir, ok := dirs[name]; ok {
		pattern = filepath.Join(root, dir, "*.log")
	}
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	sort.Strings(files)
	lines := map[string]string{}
	var d Decoder
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		for len(b) > 0 {
			batch, err := Parse(b)
			if err != nil {
				break // a zero tail
			}
			for r, err := range d.Records(batch) {
				require.NoError(t, err)
				offset := strconv.FormatInt(r.Offset, 10)
				lines[offset] = expectedLine(&r)
				if batch.Control() {
					lines[offset] = controlLine(t, batch, &r)
				}
			}
			b = b[batch.Size:]
		}
	}
	return lines
}

func controlLine(t *testing.T, b Batch, r *Record) string {
	kind, err := ParseControl(r.Key)
	require.NoError(t, err)
	epoch, err := ParseEndTxn(r.Value)
	require.NoError(t, err)
	return fmt.Sprintf("%d\t%d\tcreate\t-\t-\t0\tcontrol:%s:pid=%d:epoch=%d:coordinatorEpoch=%d",
		r.Offset, r.Time.UnixMilli(), strings.ToLower(kind.String()), b.ProducerID, b.ProducerEpoch, epoch)
}

func expectedLine(r *Record) string {
	key, value := "null", "null"
	if r.Key != nil {
		key = strconv.Quote(string(r.Key))
		for _, c := range r.Key {
			if c < ' ' || c > '~' {
				key = fmt.Sprintf("hex:%x", r.Key)
			}
		}
	}
	if r.Value != nil {
		sum := sha256.Sum256(r.Value)
		value = fmt.Sprintf("%d:%x", len(r.Value), sum[:8])
	}
	ms := int64(noTimestamp)
	if !r.Time.IsZero() {
		ms = r.Time.UnixMilli()
	}
	kind := map[TimestampType]string{CreateTime: "create", LogAppendTime: "append"}[r.TimestampType]
	return fmt.Sprintf("%d\t%d\t%s\t%s\t%s\t%d", r.Offset, ms, kind, key, value, len(r.Headers))
}
