package differential

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// names replaces what a broker named by what it is in the order of appearance:
// the first member id that a conversation sees is <uuid 1> with either broker.
// What is only looked at has no number yet.
type names struct {
	prefix string // of the conversation's topics and groups
	port   string
	known  map[string]int
	count  map[string]int
	topics map[[16]byte]string
}

func newNames(prefix, port string) *names {
	return &names{prefix: prefix, port: port, known: map[string]int{}, count: map[string]int{}, topics: map[[16]byte]string{}}
}

// The ids of a producer and of a session that no broker gave.
const (
	noProducer = 4_000_000_000
	noSession  = 7
)

// The records' own times are some hours old, so that they are told from the
// present, which is shown as such.
var (
	started = time.Now()
	longAgo = started.Add(-3 * time.Hour).UnixMilli()
)

func now(ms int64) bool {
	return ms >= started.Add(-time.Minute).UnixMilli() && ms <= time.Now().Add(time.Minute).UnixMilli()
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (n *names) numbered(kind, literal string, look bool) string {
	key := kind + " " + literal
	if n.known[key] == 0 {
		if look {
			return "<new " + kind + ">"
		}
		n.count[kind]++
		n.known[key] = n.count[kind]
	}
	return fmt.Sprintf("<%s %d>", kind, n.known[key])
}

// text is a string that a broker or a client said.
func (n *names) text(field, s string, look bool) string {
	switch field {
	case "ClusterID":
		return "<cluster>"
	case "LogDir", "Dir":
		return "<dir>"
	}
	if strings.HasSuffix(field, "Message") || field == "Documentation" {
		// Texts are each broker's own.
		if s == "" {
			return `""`
		}
		return "<text>"
	}
	s = strings.ReplaceAll(s, n.prefix, "")
	s = uuid.ReplaceAllStringFunc(s, func(u string) string { return n.numbered("uuid", u, look) })
	return strconv.Quote(s)
}

func (n *names) bytes(b []byte) string {
	s := strings.ReplaceAll(string(b), n.prefix, "")
	if strings.IndexFunc(s, func(r rune) bool { return r >= unicode.MaxASCII || !unicode.IsPrint(r) }) < 0 {
		return strconv.Quote(s)
	}
	return "0x" + hex.EncodeToString([]byte(s))
}

// topicID is whose id it is, and in which of its lives.
func (n *names) topicID(id [16]byte, look bool) string {
	switch {
	case id == [16]byte{}:
		return "0"
	case n.topics[id] != "":
		return n.topics[id]
	}
	return n.numbered("topic id", string(id[:]), look)
}

// topic tells whose id it is.
func (n *names) topic(id [16]byte, name string, life int) {
	n.topics[id] = fmt.Sprintf("<id %d of %s>", life, strings.TrimPrefix(name, n.prefix))
}

func (n *names) number(field string, i int64, look bool) string {
	switch field {
	case "Port":
		if strconv.FormatInt(i, 10) == n.port {
			return "<port>"
		}
	case "ProducerID":
		if i >= 0 && i != noProducer {
			return n.numbered("producer", strconv.FormatInt(i, 10), look)
		}
	case "SessionID":
		if i != 0 && i != noSession {
			return n.numbered("session", strconv.FormatInt(i, 10), look)
		}
	case "TotalBytes", "UsableBytes":
		if i > 0 {
			return "<bytes>"
		}
	}
	if now(i) {
		return "<now>"
	}
	if d := i - longAgo; d > -time.Hour.Milliseconds() && d < time.Hour.Milliseconds() {
		return fmt.Sprintf("<then%+d>", d)
	}
	return strconv.FormatInt(i, 10)
}
