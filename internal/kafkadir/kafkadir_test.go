package kafkadir_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/internal/vfs"
)

const uuid = "9b185c45b0dc43198ec670e0367be09a"

func TestParseName(t *testing.T) {
	for dir, want := range map[string]kafkadir.Name{
		"t-0":                               {Topic: "t"},
		"a-b-12":                            {Topic: "a-b", Partition: 12},
		"topic--1":                          {Topic: "topic-", Partition: 1},
		"-1-1":                              {Topic: "-1", Partition: 1},
		"t-2147483647":                      {Topic: "t", Partition: 2147483647},
		"r.s-3." + uuid + "-delete":         {Topic: "r.s", Partition: 3, State: kafkadir.Deleted, ID: uuid},
		"t-0." + uuid + "-future":           {Topic: "t", State: kafkadir.Future, ID: uuid},
		"t-0." + uuid + "-stray":            {Topic: "t", State: kafkadir.Stray, ID: uuid},
		"t-delete-4":                        {Topic: "t-delete", Partition: 4},
		"__consumer_offsets-49":             {Topic: "__consumer_offsets", Partition: 49},
		"t-0.x." + uuid + "-delete":         {},
		"t-0." + uuid[1:] + "-delete":       {},
		"t-0." + uuid[1:] + "g-delete":      {},
		"t-0-delete":                        {},
		"t-0." + uuid:                       {},
		"t." + uuid + "-delete":             {},
		"lost+found":                        {},
		"remote-log-index-cache":            {},
		"":                                  {},
		"-0":                                {},
		"t-":                                {},
		"t-01":                              {},
		"t-+1":                              {},
		"t-x":                               {},
		"t-2147483648":                      {},
		"0":                                 {},
		"t-0." + uuid + "-delete-0.deleted": {},
	} {
		got, ok := kafkadir.ParseName(dir)
		require.Equal(t, want != kafkadir.Name{}, ok, dir)
		require.Equal(t, want, got, dir)
		if ok {
			require.Equal(t, dir, got.String())
		}
	}
}

// A directory's name has 255 bytes at most; of a future copy the topic is never
// cut, for it is to be a live one again.
func TestLongNamesAreCut(t *testing.T) {
	n := kafkadir.Name{Topic: strings.Repeat("x", 249), Partition: 123, State: kafkadir.Deleted, ID: uuid}
	require.Len(t, n.String(), 255)
	again, ok := kafkadir.ParseName(n.String())
	require.True(t, ok)
	require.Equal(t, n.Partition, again.Partition)
	n.State = kafkadir.Future
	require.Equal(t, n.Live()+"."+uuid+"-future", n.String())
}

func TestValidTopic(t *testing.T) {
	for _, topic := range []string{"a", "A.b_c-0", "...", strings.Repeat("t", 249)} {
		require.True(t, kafkadir.ValidTopic(topic), topic)
	}
	for _, topic := range []string{"", ".", "..", "a b", "a/b", "ä", "a\x00", strings.Repeat("t", 250)} {
		require.False(t, kafkadir.ValidTopic(topic), topic)
	}
}

// TestPitfallM2Offsets: a checkpoint that is cut, doubled or nonsense is an
// error as a whole, in any line end it reads the same, and a missing or an
// empty one has no entries.
func TestPitfallM2Offsets(t *testing.T) {
	five := kafkadir.Offsets{"t-0": 5}
	for text, want := range map[string]kafkadir.Offsets{
		"0\n1\nt 0 5\n":                    five,
		"0\n1\nt 0 5":                      five,
		"0\r\n1\r\nt 0 5\r\n":              five,
		"0\r1\rt 0 5\r":                    five,
		"0 \n 1 \n  t   0\t5  \n":          five,
		"0\n2\na-b 1 7\nt 0 5\n":           {"t-0": 5, "a-b-1": 7},
		"0\n2\nt 0 4\nt 0 5\n":             five, // as Kafka: the last
		"0\n0\n":                           {},
		"0\n":                              {},
		"":                                 {},
		"\n\n":                             {},
		"0\n2\nt 0 5\n":                    nil,
		"0\n1\nt 0 5\nt 1 5\n":             nil,
		"0\n1\nt 0 ":                       nil,
		"0\n-1\n":                          nil,
		"1\n1\nt 0 5\n":                    nil,
		"0\n1\nt 0 x\n":                    nil,
		"0\n1\nt x 5\n":                    nil,
		"0\n1\nt -1 5\n":                   nil,
		"0\n1\nt 0 -5\n":                   nil,
		"0\n1\nt 0 5 5\n":                  nil,
		"0\n1\nt 0 99999999999999999999\n": nil,
		"garbage":                          nil,
		"\x00\x00\x00\x00":                 nil,
		"\xff\xfe0\x00\n\x00":              nil,
	} {
		got, err := kafkadir.DecodeOffsets([]byte(text))
		require.Equal(t, want == nil, err != nil, "%q: %v", text, err)
		require.Equal(t, want, got, "%q", text)
	}
	m := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(m, "d", 0o755))
	got, err := kafkadir.ReadOffsets(m, "d", kafkadir.LogStartFile)
	require.NoError(t, err)
	require.Empty(t, got)
	require.NoError(t, kafkadir.WriteOffsets(m, "d", kafkadir.LogStartFile, kafkadir.Offsets{"b-1": 1, "a-b-0": 1 << 40}))
	text, err := vfs.ReadFile(m, "d/log-start-offset-checkpoint")
	require.NoError(t, err)
	require.Equal(t, "0\n2\na-b 0 1099511627776\nb 1 1\n", string(text))
}

func TestOffsetsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := kafkadir.Offsets(rapid.MapOf(
			rapid.Map(rapid.Uint16(), func(n uint16) string { return kafkadir.Name{Topic: "a-b", Partition: int32(n)}.Live() }),
			rapid.Int64Min(0)).Draw(t, "offsets"))
		got, err := kafkadir.DecodeOffsets(o.Encode())
		require.NoError(t, err)
		require.Equal(t, o, got)
	})
}

func TestDecodeMeta(t *testing.T) {
	for text, want := range map[string]*kafkadir.Meta{
		"#\n#Mon Nov 30 01:50:09 UTC 2026\nnode.id=1\ndirectory.id=c0hX\nversion=1\ncluster.id=y9L\n": {Version: 1, NodeID: 1, ClusterID: "y9L", DirectoryID: "c0hX"},
		"#\r\n#x\r\nversion=0\r\nbroker.id=7\r\n":                                                     {NodeID: 7},
		"broker.id=7\ncluster.id=my\\:c\\u00e9\\\\u0041\\t\n":                                         {NodeID: 7, ClusterID: "my:cé\\u0041\t"},
		"version = 0\n  broker.id : 3\n cluster.id\tx\n":                                              {NodeID: 3, ClusterID: "x"},
		"broker.i\\u0064=3":          {NodeID: 3},
		"":                           {NodeID: -1},
		"! nothing\n":                {NodeID: -1},
		"version=2\n":                nil,
		"version=x\n":                nil,
		"version=1\nnode.id=1\n":     nil,
		"version=1\ncluster.id=x\n":  nil,
		"version=0\nbroker.id=one\n": nil,
		"version=0\nbroker.id=-1\n":  nil,
		"cluster.id=\\u00\n":         nil,
		"cluster.id=\\uzzzz\n":       nil,
	} {
		got, err := kafkadir.DecodeMeta([]byte(text))
		require.Equal(t, want == nil, err != nil, "%q: %v", text, err)
		require.Equal(t, want, got, "%q", text)
	}
}

func TestTopicID(t *testing.T) {
	m := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(m, "t-0", 0o755))
	none, err := kafkadir.ReadTopicID(m, "t-0")
	require.NoError(t, err)
	require.Zero(t, none)
	id := kafkadir.NewID()
	require.NoError(t, kafkadir.WriteTopicID(m, "t-0", id))
	got, err := kafkadir.ReadTopicID(m, "t-0")
	require.NoError(t, err)
	require.Equal(t, id, got)
	for text, ok := range map[string]bool{
		"version: 0\ntopic_id: aMTWN8pvRGC82Gi3PLGhiA":       true,
		"version: 0\r\ntopic_id: aMTWN8pvRGC82Gi3PLGhiA\r\n": true,
		"version: 1\ntopic_id: aMTWN8pvRGC82Gi3PLGhiA":       true,
		"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA":       false,
		"version: 0\ntopic_id: aMTWN8pvRGC82Gi3PLGhi":        false,
		"version: x\ntopic_id: aMTWN8pvRGC82Gi3PLGhiA":       false,
		"version: 0\n": false,
		"":             false,
		"\x00\x00":     false,
	} {
		require.NoError(t, vfs.WriteFile(m, "t-0/partition.metadata", []byte(text)))
		got, err := kafkadir.ReadTopicID(m, "t-0")
		require.Equal(t, ok, err == nil, "%q: %v", text, err)
		require.Equal(t, ok, got != kafkadir.ID{}, "%q", text)
	}
}

// TestKafkasOwn: every such file that Kafka wrote reads, and partition.metadata
// is written as it wrote it.
func TestKafkasOwn(t *testing.T) {
	seen := map[string]int{}
	require.NoError(t, filepath.WalkDir(testkit.KafkaDirs(t), func(name string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		dir, file := filepath.Split(name)
		switch file {
		case kafkadir.RecoveryPointFile, kafkadir.HighWatermarkFile, kafkadir.LogStartFile, kafkadir.CleanerFile:
			o, err := kafkadir.ReadOffsets(vfs.OS, dir, file)
			require.NoError(t, err)
			again, err := kafkadir.DecodeOffsets(o.Encode())
			require.NoError(t, err)
			require.True(t, maps.Equal(o, again))
		case kafkadir.MetaFile:
			m, err := kafkadir.ReadMeta(vfs.OS, dir)
			require.NoError(t, err)
			require.GreaterOrEqual(t, m.NodeID, int32(0), name)
		case kafkadir.MetadataFile:
			id, err := kafkadir.ReadTopicID(vfs.OS, dir)
			require.NoError(t, err)
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			require.Equal(t, string(text), "version: 0\ntopic_id: "+id.String())
		default:
			return nil
		}
		seen[file]++
		return nil
	}))
	require.Len(t, seen, 6)
}
