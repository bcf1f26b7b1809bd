package apache

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the two files
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

var (
	//go:embed pom.xml
	pom []byte
	//go:embed log4j2.xml
	log4j []byte
)

// ErrMissing is what Install returns where Kafka cannot be run, with the reason.
var ErrMissing = errors.New("APACHE KAFKA CANNOT BE RUN HERE, which takes a JDK of 17 or later and Maven")

// Kafka is Apache Kafka's classes. It is a value: a copy with other fields changes
// nothing for others. Any number of goroutines may use it.
type Kafka struct {
	// Classpath is as java -cp takes it.
	Classpath string
	// JVM are the flags of the JVM that runs a tool, not of a Node's.
	JVM []string

	home string
}

// tools end soon and are many: a small heap, and nothing compiled at length.
var tools = []string{"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}

// installTime bounds what Maven may take; it is some 20 s on a fast network.
const installTime = 10 * time.Minute

// Install makes Kafka ready, or returns ErrMissing.
func Install(ctx context.Context) (Kafka, error) {
	k, err := install(ctx)
	if err != nil {
		return k, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return k, nil
}

func install(ctx context.Context) (Kafka, error) {
	if _, err := exec.LookPath("java"); err != nil {
		return Kafka{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return Kafka{}, err
	}
	digest := sha256.Sum256(bytes.Join([][]byte{pom, log4j}, nil))
	home := filepath.Join(cache, "seglog-apache", fmt.Sprintf("%x", digest[:8]))
	k := Kafka{home: home, Classpath: filepath.Join(home, "libs", "*"), JVM: tools}
	if _, err := os.Stat(home); err == nil {
		return k, nil
	}
	return k, resolve(ctx, home)
}

// resolve fills a folder, and then makes home the name of it, so that it is there
// whole or not.
func resolve(ctx context.Context, home string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(home), "part-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(part)
		}
	}()
	for name, content := range map[string][]byte{"pom.xml": pom, "log4j2.xml": log4j} {
		if err := os.WriteFile(filepath.Join(part, name), content, 0o644); err != nil {
			return err
		}
	}
	maven := exec.CommandContext(ctx, "mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs")
	maven.Dir = part
	if out, err := maven.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn: %w\n%s", err, out)
	}
	err = os.Symlink(filepath.Base(part), home)
	if errors.Is(err, fs.ErrExist) {
		return os.RemoveAll(part) // another process was first
	}
	return err
}

// Compile compiles Java source files into dir and returns a Kafka that has their
// classes as well.
func (k Kafka) Compile(ctx context.Context, dir string, sources ...string) (Kafka, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return k, err
	}
	javac := exec.CommandContext(ctx, "javac", append([]string{"-cp", k.Classpath, "-d", dir}, sources...)...)
	if out, err := javac.CombinedOutput(); err != nil {
		return k, fmt.Errorf("%w: javac: %w\n%s", ErrMissing, err, out)
	}
	k.Classpath = dir + string(filepath.ListSeparator) + k.Classpath
	return k, nil
}

// Command runs a class: a Tool, or one that was compiled.
func (k Kafka) Command(ctx context.Context, class string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "java", append(k.java(k.JVM, class), args...)...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func (k Kafka) java(flags []string, class string) []string {
	return append(append([]string{}, flags...), "-Dlog4j2.configurationFile="+filepath.Join(k.home, "log4j2.xml"), "-cp", k.Classpath, class)
}
