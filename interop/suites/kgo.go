package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
)

// kgo is the tests of franz-go's client. Those of what is not advertised (share
// groups, groups of KIP-848) skip themselves, but those of transactions wait for
// one to begin without an end.
var kgo = suite{
	listen:   "127.0.0.1:0",
	settings: []string{"num.partitions=1"},
	run: func(ctx context.Context, addr string, only *regexp.Regexp, tell func(string, result)) error {
		dir, err := os.MkdirTemp("", "seglog-suites-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := module(ctx, "github.com/twmb/franz-go@v1.22.3", dir); err != nil {
			return err
		}
		env := []string{"KGO_SEEDS=" + addr, "KGO_TEST_RF=1", "KGO_TEST_RECORDS=20000"}
		return goTest(ctx, filepath.Join(dir, "pkg", "kgo"), env, only, tell, "-skip=^TestTxn")
	},
}
