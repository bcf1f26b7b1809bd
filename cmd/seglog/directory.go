package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

// openLog opens a log that is there. A directory without one is a mistake in
// the argument and not an empty log.
func openLog(ctx context.Context, dir string, o log.Options) (*log.Log, error) {
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	l, err := log.Open(ctx, dir, o)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return l, err
}

// checkDir says why dir is not a log's, if it is not.
func checkDir(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usagef("there is no %s; seglog append makes a log, the other commands want one that is there", dir)
	case err != nil:
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return usagef("%s is a file; name the directory it is in, or use seglog dump", dir)
		}
		return err
	}
	if names, ok := partitionsIn(dir); ok {
		return usagef("%s is a log directory; name one of its partitions, like %s", dir, filepath.Join(dir, listNames(names[:min(len(names), 1)])))
	}
	for _, e := range entries {
		if _, _, ok := segment.ParseName(e.Name()); ok || e.Name() == log.LockName {
			return nil
		}
	}
	if below, _ := filepath.Glob(filepath.Join(dir, "*", "*"+segment.LogSuffix)); len(below) > 0 {
		return usagef("%s holds directories of logs; name one of them, like %s", dir, filepath.Dir(below[0]))
	}
	return usagef("%s holds no log; name a directory that seglog append or Kafka has written", dir)
}
