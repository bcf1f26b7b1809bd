package broker

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Op is how a value is altered, by Kafka's numbers (IncrementalAlterConfigs).
type Op int8

const (
	Set      Op = 0
	Delete   Op = 1 // back to the default
	Append   Op = 2 // elements to a list
	Subtract Op = 3 // elements from a list
)

// Alteration is one change of one key.
type Alteration struct {
	Name, Value string
	Op          Op
}

// AlterTopic changes a topic's own settings, all of the changes or none. What
// changes counts from the next batch, segment, retention or compaction on, and
// is kept. validateOnly changes nothing. Errors are UNKNOWN_TOPIC_OR_PARTITION
// and INVALID_CONFIG.
func (b *Broker) AlterTopic(topic string, changes []Alteration, validateOnly bool) error {
	return b.alterTopic(topic, validateOnly, func(own map[string]string) (map[string]string, error) {
		c := b.config.Load()
		return altered(topicSettings, own, changes, func(s *Setting) string {
			return c.topicValue(s, nil).Text
		})
	})
}

// SetTopic makes values all of a topic's own settings, like AlterTopic.
func (b *Broker) SetTopic(topic string, values map[string]string, validateOnly bool) error {
	return b.alterTopic(topic, validateOnly, func(map[string]string) (map[string]string, error) { return values, nil })
}

// alterTopic makes what next makes of a topic's own settings its own. As in Kafka
// that is held to the rules before it is found out that there is no such topic.
func (b *Broker) alterTopic(topic string, validateOnly bool, next func(own map[string]string) (map[string]string, error)) error {
	valid := func(own map[string]string) (map[string]string, error) {
		values, err := next(own)
		if err != nil {
			return nil, err
		}
		parsed, err := parseTopic(values)
		if err != nil {
			return nil, failf(kerr.InvalidConfig, "%v", err)
		}
		return parsed, nil
	}
	if _, missing := b.Topic(topic); missing != nil {
		if _, err := valid(nil); err != nil {
			return err
		}
	}
	return b.changingTopic(topic, func(t *Topic, s *topicState) error {
		parsed, err := valid(*t.own.Load())
		if err != nil {
			return err
		}
		if validateOnly {
			return nil
		}
		before := s.Configs
		s.Configs = parsed
		if err := b.save(); err != nil {
			s.Configs = before
			return err
		}
		t.own.Store(&parsed)
		return b.configure(t)
	})
}

// configure makes a topic's configuration count. The caller has change.
func (b *Broker) configure(t *Topic) error {
	c := b.config.Load().topic(*t.own.Load(), b.base)
	t.config.Store(c)
	var errs []error
	for _, p := range t.Partitions() {
		if p.log != nil {
			errs = append(errs, p.log.Configure(c.log))
		}
	}
	return storageError(errors.Join(errs...))
}

// AlterBroker changes the settings of this broker or, of all, the defaults of
// the cluster's, like AlterTopic. Errors are INVALID_REQUEST for keys that cannot
// be altered while the broker runs and for values that are none; keys that are
// not known are kept and mean nothing, as in Kafka.
func (b *Broker) AlterBroker(all bool, changes []Alteration, validateOnly bool) error {
	return b.alterBroker(all, validateOnly, func(now map[string]string) (map[string]string, error) {
		c := b.config.Load()
		return altered(brokerKeys, now, changes, func(s *Setting) string { return c.brokerValue(s).Text })
	})
}

// SetBroker makes values all that is altered of this broker's settings, or all
// brokers', like AlterBroker.
func (b *Broker) SetBroker(all bool, values map[string]string, validateOnly bool) error {
	return b.alterBroker(all, validateOnly, func(map[string]string) (map[string]string, error) { return values, nil })
}

func (b *Broker) alterBroker(all, validateOnly bool, next func(now map[string]string) (map[string]string, error)) error {
	return b.changing(func() error {
		layer := &b.change.state.Broker
		if all {
			layer = &b.change.state.Cluster
		}
		values, err := next(*layer)
		if err != nil {
			return err
		}
		return b.setBroker(layer, values, validateOnly)
	})
}

// setBroker is alterBroker with what is to be there. The caller has change.
func (b *Broker) setBroker(layer *map[string]string, values map[string]string, validateOnly bool) error {
	for name := range values {
		if s := brokerKeys[name]; s != nil && s.ReadOnly && values[name] != (*layer)[name] {
			return failf(kerr.InvalidRequest, "%s cannot be altered while the broker runs", name)
		}
	}
	parsed, unknown, err := parseAll(brokerKeys, values)
	if err != nil {
		return failf(kerr.InvalidRequest, "%v", err)
	}
	if validateOnly {
		return nil
	}
	for _, name := range unknown {
		parsed[name] = values[name]
	}
	before := *layer
	*layer = parsed
	if err := b.save(); err != nil {
		*layer = before
		return err
	}
	c := *b.config.Load()
	c.broker, c.cluster = b.change.state.Broker, b.change.state.Cluster
	b.config.Store(&c)
	var errs []error
	for _, t := range b.Topics() {
		errs = append(errs, b.configure(t))
	}
	return errors.Join(errs...)
}

// altered is values after the changes. What an unset list has is told by
// inherited.
func altered(known map[string]*Setting, values map[string]string, changes []Alteration, inherited func(*Setting) string) (map[string]string, error) {
	next := maps.Clone(values)
	if next == nil {
		next = make(map[string]string)
	}
	for _, c := range changes {
		switch c.Op {
		case Set:
			next[c.Name] = c.Value
			continue
		case Delete:
			delete(next, c.Name)
			continue
		case Append, Subtract:
		default:
			return nil, failf(kerr.InvalidRequest, "there is no operation %d: 0 sets, 1 deletes, 2 appends, 3 subtracts", c.Op)
		}
		s := known[c.Name]
		if s == nil || s.Kind != List {
			return nil, failf(kerr.InvalidConfig, "%s is no list, to be appended to or subtracted from", c.Name)
		}
		text, own := next[c.Name]
		if !own {
			text = inherited(s)
		}
		list := Elements(text)
		for _, e := range Elements(c.Value) {
			at := slices.Index(list, e)
			switch {
			case c.Op == Append && at < 0:
				list = append(list, e)
			case c.Op == Subtract && at >= 0:
				list = slices.Delete(list, at, at+1)
			}
		}
		next[c.Name] = strings.Join(list, ",") // its own from now on, were it the same
	}
	return next, nil
}

// TopicConfig tells all of a topic's settings, by name.
func (b *Broker) TopicConfig(t *Topic) []Value {
	return b.TopicConfigOf(*t.own.Load())
}

// TopicConfigOf tells the settings of a topic that has these of its own.
func (b *Broker) TopicConfigOf(own map[string]string) []Value {
	c, list := b.config.Load(), make([]Value, len(TopicSettings))
	for i, s := range TopicSettings {
		list[i] = c.topicValue(s, own)
	}
	return list
}

// BrokerConfig tells all of the broker's settings, by name.
func (b *Broker) BrokerConfig() []Value {
	c, list := b.config.Load(), make([]Value, len(BrokerSettings))
	for i, s := range BrokerSettings {
		list[i] = c.brokerValue(s)
	}
	return list
}

// ClusterConfig tells what was altered for all brokers, by name.
func (b *Broker) ClusterConfig() []Value {
	c := b.config.Load()
	var list []Value
	for _, s := range BrokerSettings {
		if text, ok := c.cluster[s.Name]; ok {
			list = append(list, valueOf(s, []Synonym{{s.Name, text, FromDynamicDefault}}))
		}
	}
	return list
}

// Config is the value of a broker's key that is known.
func (b *Broker) Config(name string) string { return b.config.Load().text(name) }

// ConfigInt is Config of a number.
func (b *Broker) ConfigInt(name string) int64 { return b.config.Load().int(name) }

// ConfigBool is Config of a Boolean.
func (b *Broker) ConfigBool(name string) bool { return b.config.Load().bool(name) }
