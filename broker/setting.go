package broker

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a setting's value, by Kafka's numbers (ConfigDef.Type as
// DescribeConfigs has it).
type Kind int8

const (
	Boolean Kind = 1
	String  Kind = 2
	Int     Kind = 3
	Short   Kind = 4
	Long    Kind = 5
	Double  Kind = 6
	List    Kind = 7
)

var kindNames = map[Kind]string{Boolean: "BOOLEAN", String: "STRING", Int: "INT", Short: "SHORT", Long: "LONG", Double: "DOUBLE", List: "LIST"}

// Setting is what is known of a configuration key.
type Setting struct {
	Name    string
	Kind    Kind
	Default string
	// Broker is the key of a broker that is a topic's default; "" for none.
	Broker string
	// ReadOnly says that it cannot be altered while the broker runs.
	ReadOnly bool
	Doc      string

	check func(string) error
}

// parse makes sure that text is a value of the setting, and returns it as it is
// kept: without blanks around it.
func (s *Setting) parse(text string) (string, error) {
	if s.Kind != String {
		text = strings.TrimSpace(text)
	}
	err := s.typed(text)
	if err == nil && s.check != nil {
		err = s.check(text)
	}
	if err != nil {
		return "", fmt.Errorf("invalid value %q for %s: %w", text, s.Name, err)
	}
	return text, nil
}

func (s *Setting) typed(text string) error {
	var err error
	switch s.Kind {
	case Boolean:
		if l := strings.ToLower(text); l != "true" && l != "false" {
			return errors.New("expected value to be either true or false")
		}
	case Short:
		_, err = strconv.ParseInt(text, 10, 16)
	case Int:
		_, err = strconv.ParseInt(text, 10, 32)
	case Long:
		_, err = strconv.ParseInt(text, 10, 64)
	case Double:
		_, err = strconv.ParseFloat(text, 64)
	}
	if err != nil {
		return fmt.Errorf("not a number of type %s", kindNames[s.Kind])
	}
	return nil
}

// atLeast and between are checks of numbers, which have been parsed before.
func atLeast(low int64) func(string) error { return between(low, math.MaxInt64) }

func between(low, high int64) func(string) error {
	return func(text string) error {
		switch n, _ := strconv.ParseInt(text, 10, 64); {
		case n < low:
			return fmt.Errorf("it must be at least %d", low)
		case n > high:
			return fmt.Errorf("it must be no more than %d", high)
		}
		return nil
	}
}

func ratio(text string) error {
	switch f, _ := strconv.ParseFloat(text, 64); {
	case !(f >= 0):
		return errors.New("it must be at least 0")
	case f > 1:
		return errors.New("it must be no more than 1")
	}
	return nil
}

func oneOf(values ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(values, text) {
			return nil
		}
		return fmt.Errorf("it must be one of: %s", strings.Join(values, ", "))
	}
}

// each holds every element of a list to a check.
func each(check func(string) error) func(string) error {
	return func(text string) error {
		for _, e := range Elements(text) {
			if err := check(e); err != nil {
				return err
			}
		}
		return nil
	}
}

// Elements are those of a list setting, whose text is empty for none.
func Elements(text string) []string {
	if text == "" {
		return nil
	}
	list := strings.Split(text, ",")
	for i, e := range list {
		list[i] = strings.TrimSpace(e)
	}
	return list
}
