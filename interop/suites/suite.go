package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// suite is the tests of one client.
type suite struct {
	listen   string
	settings []string
	// expected are the tests that may fail, as regular expressions of their
	// whole names, with the reason.
	expected map[string]string
	// run runs the tests, those of names matching only if it is not nil, and
	// tells how each of them ended.
	run func(ctx context.Context, addr string, only *regexp.Regexp, tell func(test string, r result)) error
}

type result string

const (
	pass result = "pass"
	fail result = "fail"
	skip result = "skip"
)

var suites = map[string]suite{"kgo": kgo, "kafka-go": kafkaGo, "librdkafka": librdkafka, "librdkafka-noautocreate": librdkafkaNoAutoCreate}

// tally is how the tests of a run ended.
type tally struct {
	suite
	tests map[string]result
}

// note counts a test that is run twice as what is worse.
func (t *tally) note(test string, r result) {
	if t.tests[test] != fail {
		t.tests[test] = r
	}
}

func (t *tally) reason(test string) (string, bool) {
	for pattern, reason := range t.expected {
		if regexp.MustCompile(`^(` + pattern + `)$`).MatchString(test) {
			return reason, true
		}
	}
	return "", false
}

// report prints what did not pass and returns how many of these should have.
func (t *tally) report() (unexpected int) {
	counts := make(map[result]int)
	for _, test := range slices.Sorted(maps.Keys(t.tests)) {
		r := t.tests[test]
		counts[r]++
		reason, known := t.reason(test)
		switch {
		case r == fail && known:
			fmt.Printf("fail, as expected: %s: %s\n", test, reason)
		case r == fail:
			fmt.Printf("FAIL: %s\n", test)
			unexpected++
		case r == pass && known:
			fmt.Printf("pass, not expected to: %s\n", test)
		}
	}
	fmt.Printf("%d pass, %d fail of which %d should not, %d skip themselves\n", counts[pass], counts[fail], unexpected, counts[skip])
	return unexpected
}
