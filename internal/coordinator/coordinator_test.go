package coordinator_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/coordinator"
	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/record"
)

// TestAsKafkaPrints: what kafka-dump-log printed of every record, with
// --offsets-decoder and --transaction-log-decoder, comes out the same to the
// byte: of two partitions that Kafka 4.4 wrote, values of versions 3, 4 and 1.
func TestAsKafkaPrints(t *testing.T) {
	for name, decode := range map[string]coordinator.Decode{"consumer-offsets": coordinator.Offsets, "transaction-state": coordinator.Transactions} {
		golden, err := os.ReadFile("testdata/" + name + ".txt")
		require.NoError(t, err)
		require.Equal(t, string(golden), dump(t, "testdata/"+name+".log", decode))
	}
}

// TestGroupsAsKafkaPrints: records of every newer kind, made and printed by
// Kafka 4.4's own classes, come out the same to the byte, and nothing that is
// cut short is accepted.
func TestGroupsAsKafkaPrints(t *testing.T) {
	golden, err := os.ReadFile("testdata/groups.txt")
	require.NoError(t, err)
	kinds := make(map[byte]int)
	for line := range strings.Lines(string(golden)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, columns, 4)
		key, err := hex.DecodeString(columns[0])
		require.NoError(t, err)
		value, err := hex.DecodeString(columns[1])
		require.NoError(t, err)
		k, v, err := coordinator.Offsets(key, value)
		require.NoError(t, err, line)
		require.Equal(t, columns[2], string(k))
		require.Equal(t, columns[3], string(v))
		for n := range len(value) {
			_, _, err := coordinator.Offsets(key, value[:n:n])
			require.ErrorIs(t, err, coordinator.ErrMalformed, "%d bytes of %x", n, value)
		}
		kinds[key[1]]++
	}
	require.Len(t, kinds, 19)
}

// TestAsKafkaPrintsOlder: the same of three partitions of older brokers, with
// tombstones, in kafka-dirs.
func TestAsKafkaPrintsOlder(t *testing.T) {
	root := testkit.KafkaDirs(t)
	golden, err := os.ReadFile("testdata/kafka-dump-log.txt")
	require.NoError(t, err)
	read := map[string]string{}
	for line := range strings.Lines(string(golden)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		if read[f[0]] == "" {
			read[f[0]] = dump(t, filepath.Join(root, filepath.FromSlash(f[0])), coordinator.Offsets)
		}
		require.Contains(t, read[f[0]], strings.Join(f[1:], "\t")+"\n")
	}
	require.Len(t, read, 6)
}

func dump(t *testing.T, name string, decode coordinator.Decode) string {
	t.Helper()
	log, err := os.ReadFile(name)
	require.NoError(t, err)
	var out strings.Builder
	var d record.Decoder
	for len(log) > 0 {
		b, err := record.Parse(log)
		require.NoError(t, err)
		log = log[b.Size:]
		for r, err := range d.Records(b) {
			require.NoError(t, err)
			k, v, err := decode(r.Key, r.Value)
			require.NoError(t, err)
			if v == nil {
				v = []byte("<DELETE>")
			}
			out.WriteString(strconv.FormatInt(r.Offset, 10) + "\t" + string(k) + "\t" + string(v) + "\n")
		}
	}
	return out.String()
}

const (
	offsetKey = "\x00\x01\x00\x01g\x00\x01t\x00\x00\x00\x02"
	groupKey  = "\x00\x02\x00\x01g"
	txnKey    = "\x00\x00\x00\x02id"
	long      = "\x00\x00\x00\x00\x00\x00\x00"
	txnHead   = long + "\x07\x00\x03\x00\x00\xea\x60\x04"
)

// TestVersions: each version has the fields that its schema gives it.
func TestVersions(t *testing.T) {
	const key = `{"type":"1","data":{"group":"g","topic":"t","partition":2}}`
	for _, c := range []struct {
		decode           coordinator.Decode
		key, value, want string
	}{
		{coordinator.Offsets, offsetKey, "\x00\x00" + long + "\x05\x00\x01m" + long + "\x09", `{"version":"0","data":{"offset":5,"metadata":"m","commitTimestamp":9}}`},
		{coordinator.Offsets, offsetKey, "\x00\x01" + long + "\x05\x00\x01m" + long + "\x09" + long + "\x08",
			`{"version":"1","data":{"offset":5,"metadata":"m","commitTimestamp":9,"expireTimestamp":8}}`},
		{coordinator.Offsets, offsetKey, "\x00\x03" + long + "\x05\x00\x00\x00\x06\x00\x00" + long + "\x09",
			`{"version":"3","data":{"offset":5,"leaderEpoch":6,"metadata":"","commitTimestamp":9}}`},
		{coordinator.Offsets, offsetKey, "\x00\x04" + long + "\x05\x00\x00\x00\x06\x02m" + long + "\x09\x00",
			`{"version":"4","data":{"offset":5,"leaderEpoch":6,"metadata":"m","commitTimestamp":9}}`},
		{coordinator.Offsets, offsetKey, "\x00\x04" + long + "\x05\x00\x00\x00\x06\x02m" + long + "\x09\x02\x00\x10" + long + "\x00" + long + "\x01\x09\x01x",
			`{"version":"4","data":{"offset":5,"leaderEpoch":6,"metadata":"m","commitTimestamp":9,"topicId":"AAAAAAAAAAAAAAAAAAAAAQ"}}`},
		{coordinator.Offsets, groupKey, "\x00\x04\x02c\x00\x00\x00\x01\x00\x02l" + long + "\x03\x02\x02m\x00\x02i\x02h\x00\x00\x00\x05\x00\x00\x00\x06\x03ab\x01\x00\x00",
			`{"version":"4","data":{"protocolType":"c","generation":1,"protocol":null,"leader":"l","currentStateTimestamp":3,"members":[{"memberId":"m",` +
				`"groupInstanceId":null,"clientId":"i","clientHost":"h","rebalanceTimeout":5,"sessionTimeout":6,"subscription":"YWI=","assignment":""}]}}`},
		{coordinator.Offsets, groupKey, "\x00\x00\x00\x01c\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x00",
			`{"version":"0","data":{"protocolType":"c","generation":1,"protocol":null,"leader":null,"members":[]}}`},
		{coordinator.Transactions, txnKey, "\x00\x00" + txnHead + "\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x02" + long + "\x08" + long + "\x09",
			`{"version":"0","data":{"producerId":7,"producerEpoch":3,"transactionTimeoutMs":60000,"transactionStatus":"CompleteCommit",` +
				`"transactionPartitions":[{"topic":"t","partitionIds":[2]}],"transactionLastUpdateTimestampMs":8,"transactionStartTimestampMs":9}}`},
		{coordinator.Transactions, txnKey, "\x00\x01" + txnHead + "\x00" + long + "\x08" + long + "\x09\x02\x00\x08" + long + "\x06\x02\x02\x00\x02",
			`{"version":"1","data":{"producerId":7,"previousProducerId":6,"producerEpoch":3,"transactionTimeoutMs":60000,"transactionStatus":"CompleteCommit",` +
				`"transactionPartitions":null,"transactionLastUpdateTimestampMs":8,"transactionStartTimestampMs":9,"clientTransactionVersion":2}}`},
	} {
		k, v, err := c.decode([]byte(c.key), []byte(c.value))
		require.NoError(t, err, c.want)
		require.Equal(t, c.want, string(v))
		if c.key == offsetKey {
			require.Equal(t, key, string(k))
		}
		for n := range len(c.value) {
			_, _, err := c.decode([]byte(c.key), append([]byte{}, c.value[:n]...))
			require.ErrorIs(t, err, coordinator.ErrMalformed, "%d bytes of %q", n, c.value)
		}
	}
}

func TestUnknown(t *testing.T) {
	for key, value := range map[string]string{"\x00\x09\x00\x01g": "", "\x00\x12\x00\x01g": "", "\x00\x18\x00\x01g": "", "\xff\xff": "",
		"\x00\x03\x00\x01g": "\x00\x01", offsetKey: "\x00\x05", groupKey: "\x00\x09"} {
		_, _, err := coordinator.Offsets([]byte(key), []byte(value))
		require.ErrorIs(t, err, coordinator.ErrUnknown)
	}
	_, _, err := coordinator.Transactions([]byte(offsetKey), nil)
	require.ErrorIs(t, err, coordinator.ErrUnknown)
	_, _, err = coordinator.Offsets(nil, nil)
	require.ErrorIs(t, err, coordinator.ErrMalformed)
	_, v, err := coordinator.Offsets([]byte(groupKey), nil)
	require.NoError(t, err)
	require.Nil(t, v)
}

// FuzzDecode: whatever is accepted comes out as valid JSON, the value with its
// version.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(offsetKey), []byte("\x00\x03"+long+"\x05\x00\x00\x00\x06\x00\x00"+long+"\x09"))
	f.Add([]byte(txnKey), []byte("\x00\x01"+txnHead+"\x00"+long+"\x08"+long+"\x09\x00"))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		for _, decode := range coordinator.Topics {
			k, v, err := decode(key, value)
			if err == nil {
				require.True(t, json.Valid(k))
				require.True(t, v == nil && value == nil || json.Valid(v))
			}
		}
	})
}
