package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc (USER_HZ), which has been this for all of
// Linux' architectures.
const tick = time.Second / 100

// stat are the fields of /proc/PID/stat from the third on, behind the name.
func (n *node) stat() ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.PID()))
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])), nil
}

// ticks is the sum of some fields, by their numbers in proc(5).
func (n *node) ticks(numbers ...int) (time.Duration, error) {
	fields, err := n.stat()
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, number := range numbers {
		v, err := strconv.ParseInt(fields[number-3], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(v) * tick
	}
	return sum, nil
}

// cpu is the time that the process has spent, in the kernel too.
func (n *node) cpu() (time.Duration, error) { return n.ticks(14, 15) }

// age is the time since the process began.
func (n *node) age() (time.Duration, error) {
	began, err := n.ticks(22)
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, err
	}
	up, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	return time.Duration(up*float64(time.Second)) - began, err
}

// anonymous is the resident memory that is of no file, in bytes.
func (n *node) anonymous() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.PID()))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(v)[0], 64)
			return kb * 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no RssAnon", n.PID())
}
