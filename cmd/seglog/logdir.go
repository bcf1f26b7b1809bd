package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/segment"
)

// partitionsIn lists the partitions in a broker's log directory, live or not;
// ok is false for a directory that is none. One is known by a directory of a
// partition's name that has segments, or by meta.properties.
func partitionsIn(dir string) (names []kafkadir.Name, ok bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false
	}
	for _, e := range entries {
		if _, _, isSegment := segment.ParseName(e.Name()); isSegment {
			return nil, false
		}
		if e.Name() == kafkadir.MetaFile {
			ok = true
		}
		name, isPartition := kafkadir.ParseName(e.Name())
		if !e.IsDir() || !isPartition {
			continue
		}
		names = append(names, name)
		ok = ok || hasSegments(filepath.Join(dir, e.Name()))
	}
	slices.SortFunc(names, kafkadir.Name.Compare)
	return names, ok
}

func hasSegments(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		_, suffix, ok := segment.ParseName(e.Name())
		return ok && suffix == segment.LogSuffix
	})
}

// onePartition is the directory of the partition to work on: dir itself, or the
// one of that name in dir.
func onePartition(dir, partition string) (string, error) {
	names, ok := partitionsIn(dir)
	switch {
	case partition == "" && !ok:
		return dir, nil
	case partition == "":
		return "", usagef("%s is a log directory; choose with --partition one of %s", dir, listNames(names))
	case !ok:
		return "", usagef("%s is no log directory, and has no partitions to choose from", dir)
	case !slices.ContainsFunc(names, func(n kafkadir.Name) bool { return n.String() == partition }):
		return "", usagef("there is no partition %s in %s, only %s", partition, dir, listNames(names))
	}
	return filepath.Join(dir, partition), nil
}

// listNames names the first few.
func listNames(names []kafkadir.Name) string {
	const few = 10
	var list []string
	for i, n := range names {
		if i == few {
			list = append(list, "...")
			break
		}
		list = append(list, n.String())
	}
	return strings.Join(list, ", ")
}

// logFiles lists the .log files of a partition, or of all partitions of a log
// directory; a file is its own list.
func logFiles(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, nil // whoever opens it says what is wrong
	}
	dirs := []string{name}
	if names, ok := partitionsIn(name); ok {
		dirs = nil
		for _, n := range names {
			dirs = append(dirs, filepath.Join(name, n.String()))
		}
	}
	var files []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if _, suffix, ok := segment.ParseName(e.Name()); ok && suffix == segment.LogSuffix {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	if len(files) == 0 {
		return nil, errors.Join(checkDir(name), usagef("%s holds no .log file", name))
	}
	return files, nil
}
