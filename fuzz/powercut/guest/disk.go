//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seglog/seglog/fuzz/work"
)

// disk is one disk with one log on it.
type disk struct {
	line   *serial
	number int
	kind   string // of the file system
	broken string // what the store is to do wrong
	work   work.Subject
}

func (d *disk) say(line string) { d.line.say(fmt.Sprintf("%d %s", d.number, line)) }

// run mounts the disk and works on it.
func (d *disk) run(seed uint64) (err error) {
	device, err := findDisk(fmt.Sprintf("disk%d", d.number))
	if err != nil {
		return err
	}
	d.say("mounting")
	dir := fmt.Sprintf("/disk%d", d.number)
	if err := mount(device, dir, d.kind); err != nil {
		return err
	}
	if d.work.FS, err = work.Breaking(d.broken); err != nil {
		return err
	}
	d.work.Dir, d.work.Say, d.work.Rand = dir+"/log-0", d.say, rand.New(rand.NewPCG(seed, uint64(d.number)))
	return d.work.Run()
}

// findDisk is the device with that serial number.
func findDisk(serial string) (string, error) {
	for range 200 { // they come up one after the other
		disks, err := filepath.Glob("/sys/block/vd*")
		if err != nil {
			return "", err
		}
		for _, dir := range disks {
			has, err := os.ReadFile(dir + "/serial")
			if err == nil && strings.TrimSpace(string(has)) == serial {
				return "/dev/" + filepath.Base(dir), nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", fmt.Errorf("no disk with serial number %s", serial)
}
