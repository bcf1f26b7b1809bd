package main

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seglog/seglog/record"
)

func TestJSONGolden(t *testing.T) {
	at := time.UnixMilli(1700000000123)
	for _, c := range []struct {
		name string
		r    record.Record
		want string
	}{
		{"nulls", record.Record{Offset: 1},
			`{"offset":1,"tstype":"create","ts":null,"headers":[],"key":null,"payload":null}`},
		{"empty is not null", record.Record{Time: at, Key: []byte{}, Value: []byte{}},
			`{"offset":0,"tstype":"create","ts":1700000000123,"headers":[],"key":"","payload":""}`},
		{"headers", record.Record{Time: at, TimestampType: record.LogAppendTime, Headers: []record.Header{{Key: "a", Value: []byte("1")}, {Key: "a"}}},
			`{"offset":0,"tstype":"logappend","ts":1700000000123,"headers":["a","1","a",null],"key":null,"payload":null}`},
		{"not UTF-8", record.Record{Time: at, Key: []byte{0xff}, Value: []byte("a\xc3"), Headers: []record.Header{{Key: "h", Value: []byte{0x80}}, {Key: "n"}}},
			`{"offset":0,"tstype":"create","ts":1700000000123,"headers_base64":["aA==","gA==","bg==",null],"key_base64":"/w==","payload_base64":"YcM="}`},
		{"escapes", record.Record{Time: at, Value: []byte("\"\\\n\r\t\x00\x1f\u2028\u2029\u20ac</script>")},
			`{"offset":0,"tstype":"create","ts":1700000000123,"headers":[],"key":null,"payload":"\"\\\n\r\t\u0000\u001f\u2028\u2029€</script>"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(appendJSON(nil, &c.r)); got != c.want+"\n" {
				t.Errorf("got  %swant %s", got, c.want)
			}
		})
	}
}

// Whatever the bytes, it is one line of valid JSON that gives them back.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "plain", "\x00\x01\x7f\u0080", "\u2027\u2028\u2029\u202a", "\xe2", "\xe2\x80", "a\xe2\x80\xa8", "\xed\xa0\x80", "é\"\\", "\U0001f600"} {
		f.Add([]byte(s), []byte(strings.Repeat(s, 3)))
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		line := appendJSON(nil, &record.Record{Key: key, Value: value, Headers: []record.Header{{Key: string(key), Value: value}}})
		if strings.Count(string(line), "\n") != 1 {
			t.Fatalf("not one line: %q", line)
		}
		var got struct {
			Key, Payload  *string
			KeyBase64     *string   `json:"key_base64"`
			PayloadBase64 *string   `json:"payload_base64"`
			Headers       []*string `json:"headers"`
			HeadersBase64 []*string `json:"headers_base64"`
		}
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, c := range []struct {
			in           []byte
			text, base64 *string
		}{{key, got.Key, got.KeyBase64}, {value, got.Payload, got.PayloadBase64}} {
			if back := decode(t, c.text, c.base64); string(back) != string(c.in) || (back == nil) != (c.in == nil) {
				t.Errorf("%q came back as %q", c.in, back)
			}
		}
		var back []byte
		if got.Headers != nil {
			back = decode(t, got.Headers[1], nil)
		} else {
			back = decode(t, nil, got.HeadersBase64[1])
		}
		if string(back) != string(value) {
			t.Errorf("header %q came back as %q", value, back)
		}
	})
}

func decode(t *testing.T, text, encoded *string) []byte {
	t.Helper()
	switch {
	case text != nil && encoded != nil:
		t.Fatal("both forms are there")
	case text != nil:
		return []byte(*text)
	case encoded != nil:
		b, err := base64.StdEncoding.DecodeString(*encoded)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return nil
}
