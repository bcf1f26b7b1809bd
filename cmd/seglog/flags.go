package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// size is a flag of bytes, as people write them: 64MiB, 10GB, 4096.
type size int64

func (s *size) String() string { return formatSize(int64(*s)) }
func (s *size) Type() string   { return "size" }

func (s *size) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<62 {
		return fmt.Errorf("%q is no size; write one like 64MiB", text)
	}
	*s = size(n)
	return nil
}

// formatSize writes bytes so that a size flag reads them: 64MiB.
func formatSize(n int64) string {
	text := strings.ReplaceAll(humanize.IBytes(uint64(max(n, 0))), " ", "")
	number, unit := text, ""
	if i := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' }); i > 0 {
		number, unit = text[:i], text[i:]
	}
	return strings.TrimSuffix(number, ".0") + unit
}

// age is a flag of a duration in which days and weeks may be written too.
type age time.Duration

func (a *age) String() string { return formatAge(time.Duration(*a)) }
func (a *age) Type() string   { return "age" }

func (a *age) Set(text string) error {
	d, err := parseAge(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is no age; write one like 90s, 15m, 24h or 7d", text)
	}
	*a = age(d)
	return nil
}

// parseAge is time.ParseDuration without signs that knows w and d as leading
// units.
func parseAge(text string) (time.Duration, error) {
	var sum time.Duration
	rest := text
	for _, u := range []struct {
		letter string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, found := strings.Cut(rest, u.letter)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is no duration", text)
		}
		sum, rest = sum+time.Duration(n)*u.length, after
	}
	if rest == "" && sum > 0 {
		return sum, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration", text)
	}
	return sum + d, nil
}

// formatAge is the short form of a duration: 7d, 1h30m0s.
func formatAge(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return ""
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}

// choice is a flag that is one of a few words.
type choice struct {
	value string
	from  []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.from, "|") }

func (c *choice) Set(text string) error {
	if !slices.Contains(c.from, text) {
		return fmt.Errorf("%q is none of %s", text, strings.Join(c.from, ", "))
	}
	c.value = text
	return nil
}

// parseTime reads a moment: RFC 3339, a date (its midnight, UTC), now, or an
// age before now with its minus sign.
func parseTime(text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now, nil
	}
	if past, ok := strings.CutPrefix(text, "-"); ok {
		if d, err := parseAge(past); err == nil {
			return now.Add(-d), nil
		}
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("%q is no time; write one like 2026-01-31T12:00:00Z, 2026-01-31, -15m or now", text)
}

// parseSeparator takes the escapes of a Go string, so that '\t' is a tab in
// every shell.
func parseSeparator(text string) (string, error) {
	var out []byte
	for rest := text; rest != ""; {
		if rest[0] != '\\' {
			out, rest = append(out, rest[0]), rest[1:]
			continue
		}
		r, wide, after, err := strconv.UnquoteChar(rest, '"')
		if err != nil {
			return "", usagef(`%q has an escape that is none; write a backslash as \\, a tab as \t, a byte as \x00`, text)
		}
		if rest = after; wide {
			out = utf8.AppendRune(out, r)
		} else {
			out = append(out, byte(r))
		}
	}
	return string(out), nil
}
