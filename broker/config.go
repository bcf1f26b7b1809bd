package broker

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
)

// Source says where a value comes from, by Kafka's numbers (DescribeConfigs).
type Source int8

const (
	FromTopic          Source = 1 // set for the topic
	FromDynamicBroker  Source = 2 // altered for this broker
	FromDynamicDefault Source = 3 // altered for all brokers
	FromStatic         Source = 4 // given when the broker was started
	FromDefault        Source = 5
)

// Value is a setting's value and where it comes from; Others are those it hides,
// nearest first, itself at the head.
type Value struct {
	*Setting
	Text   string
	Source Source
	Others []Synonym
}

// Synonym is a value a setting has or would have.
type Synonym struct {
	Name, Text string
	Source     Source
}

// config is all that brokers and topics are configured by, in layers. It is
// immutable.
type config struct {
	broker  map[string]string // altered for this broker
	cluster map[string]string // altered for all
	static  map[string]string // given
}

// brokerValue looks a broker's key up.
func (c *config) brokerValue(s *Setting) Value {
	return valueOf(s, c.synonyms(s.Name, s.Default))
}

// synonyms lists what a broker's key has, nearest first; the default last.
func (c *config) synonyms(name, otherwise string) []Synonym {
	var list []Synonym
	for _, layer := range []struct {
		values map[string]string
		source Source
	}{{c.broker, FromDynamicBroker}, {c.cluster, FromDynamicDefault}, {c.static, FromStatic}} {
		if text, ok := layer.values[name]; ok {
			list = append(list, Synonym{name, text, layer.source})
		}
		if layer.source != FromStatic {
			continue
		}
		for _, older := range olderKeys[name] {
			if text, ok := layer.values[older.name]; ok {
				list = append(list, Synonym{older.name, scaled(text, older.ms), layer.source})
			}
		}
	}
	if len(olderKeys[name]) > 0 && len(list) > 0 {
		return list
	}
	return append(list, Synonym{name, otherwise, FromDefault})
}

func valueOf(s *Setting, list []Synonym) Value {
	return Value{Setting: s, Text: list[0].Text, Source: list[0].Source, Others: list}
}

// topicValue looks a topic's key up: its own, or the broker's that is its default.
func (c *config) topicValue(s *Setting, own map[string]string) Value {
	var list []Synonym
	if text, ok := own[s.Name]; ok {
		list = append(list, Synonym{s.Name, text, FromTopic})
	}
	if s.Broker != "" {
		list = append(list, c.synonyms(s.Broker, s.Default)...)
	}
	if withoutDefault[s.Broker] {
		list = slices.DeleteFunc(list, func(o Synonym) bool { return o.Source == FromDefault })
	}
	v := Value{Setting: s, Text: s.Default, Source: FromDefault}
	if len(list) > 0 {
		v = valueOf(s, list)
	}
	if s.Broker == "log.retention.ms" {
		v.Others = append(v.Others, Synonym{"log.retention.hours", brokerKeys["log.retention.hours"].Default, FromDefault})
	}
	return v
}

// withoutDefault are the brokers' keys of which Kafka tells no default: that is
// another key's, or nobody's.
var withoutDefault = map[string]bool{"log.retention.ms": true, "log.roll.ms": true, "log.roll.jitter.ms": true, "log.flush.interval.ms": true}

func (c *config) text(name string) string { return c.brokerValue(brokerKeys[name]).Text }

func (c *config) int(name string) int64 {
	n, _ := strconv.ParseInt(c.text(name), 10, 64) // it was parsed before it was kept
	return n
}

func (c *config) bool(name string) bool { return strings.EqualFold(c.text(name), "true") }

func (c *config) duration(name string) time.Duration { return millis(c.int(name)) }

// millis is a number of milliseconds, at most the longest duration.
func millis(n int64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// topicConfig is what a topic's configuration means.
type topicConfig struct {
	log             log.Options // what of it is the log's
	recompress      bool
	codec           record.Codec // to recompress to
	maxMessageBytes int64
	maxDecompressed int64
	flushMessages   int64
	flushEvery      time.Duration // 0 for never
	deletes         bool
	compacts        bool
}

// topic works out what a topic's own values and the defaults mean.
func (c *config) topic(own map[string]string, base log.Options) *topicConfig {
	text := func(name string) string { return c.topicValue(topicSettings[name], own).Text }
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(text(name), 10, 64)
		return n
	}
	policies := Elements(text("cleanup.policy"))
	t := &topicConfig{
		log:             base,
		maxMessageBytes: number("max.message.bytes"),
		maxDecompressed: number("max.decompressed.message.bytes"),
		flushMessages:   number("flush.messages"),
		deletes:         slices.Contains(policies, "delete"),
		compacts:        slices.Contains(policies, "compact"),
	}
	if ms := number("flush.ms"); ms < math.MaxInt64 {
		t.flushEvery = max(millis(ms), time.Millisecond)
	}
	if name := text("compression.type"); name != "producer" {
		t.recompress = true
		t.codec, _ = record.ParseCodec(strings.Replace(name, "uncompressed", "none", 1))
	}
	o := &t.log
	o.SegmentBytes = number("segment.bytes")
	o.SegmentAge = millis(number("segment.ms"))
	o.DeleteDelay = millis(number("file.delete.delay.ms"))
	o.TimestampType = record.CreateTime
	if text("message.timestamp.type") == "LogAppendTime" {
		o.TimestampType = record.LogAppendTime
	}
	o.TimeBefore = bound(number("message.timestamp.before.max.ms"))
	o.TimeAfter = bound(number("message.timestamp.after.max.ms"))
	o.Retention, o.Compaction = nil, nil
	if t.deletes {
		o.Retention = retention.Any(
			retention.MaxAge(millis(number("retention.ms"))), retention.MaxBytes(number("retention.bytes")))
	}
	if t.compacts {
		dirty, _ := strconv.ParseFloat(text("min.cleanable.dirty.ratio"), 64)
		o.Compaction = &compact.Options{
			MinDirtyRatio:   max(dirty, 1e-9), // 0 would be the default
			MinLag:          millis(number("min.compaction.lag.ms")),
			MaxLag:          lag(number("max.compaction.lag.ms")),
			DeleteRetention: max(millis(number("delete.retention.ms")), time.Nanosecond),
		}
	}
	return t
}

// bound is how far a time may be from the present: none for what reaches further
// than a duration, and for 0, which allows no difference, less than a millisecond.
func bound(ms int64) time.Duration {
	if ms >= math.MaxInt64/int64(time.Millisecond) {
		return 0
	}
	return max(time.Nanosecond, millis(ms))
}

func lag(ms int64) time.Duration {
	if ms == math.MaxInt64 {
		return 0
	}
	return millis(ms)
}

// parseAll holds values to what is known of their keys. Keys that are not known
// are left out and returned by name.
func parseAll(known map[string]*Setting, values map[string]string) (parsed map[string]string, unknown []string, err error) {
	parsed = make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		s := known[name]
		if s == nil {
			unknown = append(unknown, name)
			continue
		}
		if parsed[name], err = s.parse(values[name]); err != nil {
			return nil, nil, err
		}
	}
	return parsed, unknown, nil
}

// parseTopic holds a topic's own values to what is known of their keys, all of
// which have to be.
func parseTopic(values map[string]string) (map[string]string, error) {
	parsed, unknown, err := parseAll(topicSettings, values)
	if len(unknown) > 0 {
		return nil, fmt.Errorf("unknown topic config name: %s", unknown[0])
	}
	return parsed, err
}
