package main

import (
	"testing"
	"time"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "4096": 4096, "64MiB": 64 << 20, "64mib": 64 << 20, "64 MiB": 64 << 20, "1.5GiB": 3 << 29, "10GB": 10e9, "2k": 2000,
	} {
		var s size
		if err := s.Set(text); err != nil || int64(s) != want {
			t.Errorf("%q is %d, %v; want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "x", "0", "-1", "64XB", "99999999999EiB"} {
		if err := new(size).Set(text); err == nil {
			t.Errorf("%q is taken for a size", text)
		}
	}
	for n, want := range map[int64]string{0: "0B", 1: "1B", 1023: "1023B", 1024: "1KiB", 64 << 20: "64MiB", 3 << 29: "1.5GiB", 10 << 30: "10GiB", 2<<30 - 1: "2GiB"} {
		if got := formatSize(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "15m": 15 * time.Minute, "24h": day, "7d": 7 * day, "1d12h": 36 * time.Hour, "2w": 14 * day, "1w1d1h": 8*day + time.Hour,
	} {
		var a age
		if err := a.Set(text); err != nil || time.Duration(a) != want {
			t.Errorf("%q is %v, %v; want %v", text, time.Duration(a), err, want)
		}
	}
	for _, text := range []string{"", "7", "d", "-1h", "7dd", "1.5d", "0s", "7d-1h", "1d1w", "99999d"} {
		if err := new(age).Set(text); err == nil {
			t.Errorf("%q is taken for an age", text)
		}
	}
}

func TestTime(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"now":                           now,
		"-15m":                          now.Add(-15 * time.Minute),
		"-7d":                           now.AddDate(0, 0, -7),
		"2026-01-30":                    time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC),
		"2026-01-30T10:00:00Z":          time.Date(2026, 1, 30, 10, 0, 0, 0, time.UTC),
		"2026-01-30T10:00:00.250+02:00": time.Date(2026, 1, 30, 8, 0, 0, 250e6, time.UTC),
	} {
		if got, err := parseTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "15m", "+15m", "--15m", "yesterday", "2026-13-01", "10:00"} {
		if _, err := parseTime(text, now); err == nil {
			t.Errorf("%q is taken for a time", text)
		}
	}
}

func TestSeparator(t *testing.T) {
	for text, want := range map[string]string{"": "", ":": ":", `\t`: "\t", `"`: `"`, `\x1f`: "\x1f", `\\`: `\`, `a"\t`: "a\"\t"} {
		if got, err := parseSeparator(text); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := parseSeparator(`\q`); err == nil {
		t.Error(`\q is taken for a separator`)
	}
}
