package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// librdkafkaPackage is where its source with all tests lies.
const librdkafkaPackage = "@confluentinc/kafka-javascript@1.10.1"

// libraries are what librdkafka's tests ask of it that it does not bring along:
// what its configure says once it has found them, and Debian's packages. Without
// them it compiles as well, and tests of them fail or are not run.
var libraries = map[string]string{
	"#define WITH_SSL 1":       "libssl-dev",
	"#define WITH_ZLIB 1":      "zlib1g-dev",
	"#define WITH_ZSTD 1":      "libzstd-dev",
	"#define WITH_RAPIDJSON 1": "rapidjson-dev",
}

// compiled is the directory of the source, with the test runner.
func compiled(ctx context.Context) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "seglog-suites", "librdkafka")
	source := filepath.Join(dir, "package", "deps", "librdkafka")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		if missing, err := without(source); err != nil || len(missing) == 0 {
			return source, err
		}
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", err
	}
	fmt.Println("compiling librdkafka, which takes minutes")
	if err := command(ctx, dir, nil, "npm", "pack", librdkafkaPackage); err != nil {
		return "", err
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return "", fmt.Errorf("npm pack %s left %q: %w", librdkafkaPackage, archives, err)
	}
	if err := command(ctx, dir, nil, "tar", "xzf", archives[0], "package/deps/librdkafka"); err != nil {
		return "", err
	}
	if err := oneReplica(filepath.Join(source, "tests", "test.c")); err != nil {
		return "", err
	}
	if err := configured(ctx, source); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"make", "-j2", "libs"}, {"make", "-C", "tests", "build"}} {
		if err := command(ctx, source, nil, args...); err != nil {
			return "", err
		}
	}
	return source, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644)
}

// configured configures the source with all libraries, which are installed where
// they are missing and that can be done.
func configured(ctx context.Context, source string) error {
	if err := command(ctx, source, nil, "./configure"); err != nil {
		return err
	}
	missing, err := without(source)
	if err != nil || len(missing) == 0 {
		return err
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 {
		return fmt.Errorf("librdkafka is tested with %s, which are not here", strings.Join(missing, " and "))
	}
	fmt.Println("installing", strings.Join(missing, " and "))
	quiet := []string{"DEBIAN_FRONTEND=noninteractive"}
	if err := errors.Join(command(ctx, "", quiet, "apt-get", "update"),
		command(ctx, "", quiet, append([]string{"apt-get", "install", "-y", "--no-install-recommends"}, missing...)...),
		command(ctx, source, nil, "./configure")); err != nil {
		return err
	}
	if missing, err = without(source); err == nil && len(missing) > 0 {
		err = fmt.Errorf("librdkafka's configure does not find what was installed: %s", strings.Join(missing, ", "))
	}
	return err
}

// without is the packages of the libraries that the source was configured without.
func without(source string) (packages []string, err error) {
	config, err := os.ReadFile(filepath.Join(source, "config.h"))
	for said, name := range libraries {
		if !bytes.Contains(config, []byte(said)) {
			packages = append(packages, name)
		}
	}
	return packages, err
}

// oneReplica has tests ask for topics of one replica, as there is one broker.
func oneReplica(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	const asked = "rd_kafka_NewTopic_new(topicname, partition_cnt, replication_factor,"
	changed := strings.Replace(string(text), asked, strings.Replace(asked, "replication_factor", "1", 1), 1)
	if changed == string(text) {
		return fmt.Errorf("%s does not have %q", file, asked)
	}
	return os.WriteFile(file, []byte(changed), 0o644)
}
