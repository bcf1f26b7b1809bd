package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// jvm is the command that runs a class of Apache Kafka, or of ours in dir.
func jvm(dir string) ([]string, error) {
	script, err := kafkaHome()
	if err != nil {
		return nil, err
	}
	out, err := exec.Command(script, "classpath").Output()
	if err != nil {
		return nil, err
	}
	classpath := strings.TrimSpace(string(out))
	if dir != "" {
		classpath += string(filepath.ListSeparator) + dir
	}
	return []string{"java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dlog4j2.configurationFile=" + filepath.Join(filepath.Dir(script), "log4j2.xml"), "-cp", classpath}, nil
}

// java is Kafka's own client.
func java() *program {
	return &program{install: func(ctx context.Context) ([]string, error) {
		if err := missing("javac"); err != nil {
			return nil, err
		}
		dir, err := cache("java")
		if err != nil {
			return nil, err
		}
		command, err := jvm(dir)
		if err != nil {
			return nil, err
		}
		source, err := drivers("java", "Driver.java")
		if err != nil {
			return nil, err
		}
		return append(command, "Driver"), done(ctx, "", nil, "javac", "-cp", command[len(command)-1], "-d", dir, source)
	}}
}

// kafkaTool is a tool's class.
type kafkaTool string

const (
	topicCommand       kafkaTool = "TopicCommand"
	configCommand      kafkaTool = "ConfigCommand"
	groupCommand       kafkaTool = "consumer.group.ConsumerGroupCommand"
	getOffsets         kafkaTool = "GetOffsetShell"
	deleteRecords      kafkaTool = "DeleteRecordsCommand"
	logDirs            kafkaTool = "LogDirsCommand"
	apiVersions        kafkaTool = "BrokerApiVersionsCommand"
	consoleProducer    kafkaTool = "ConsoleProducer"
	consoleConsumer    kafkaTool = "consumer.ConsoleConsumer"
	verifiableProducer kafkaTool = "VerifiableProducer"
	verifiableConsumer kafkaTool = "VerifiableConsumer"
)

var toolCommand = sync.OnceValues(func() ([]string, error) { return jvm("") })

func (t kafkaTool) cmd(args ...string) *exec.Cmd {
	command, err := toolCommand()
	cmd := exec.Command("java")
	if cmd.Err = err; err == nil {
		cmd = exec.Command(command[0], append(append(command[1:len(command):len(command)], "org.apache.kafka.tools."+string(t)), args...)...)
	}
	return cmd
}

// told runs it for what it says.
func (t kafkaTool) told(ctx context.Context, args ...string) (string, error) {
	var out strings.Builder
	err := tell(ctx, t.cmd(args...), nil, terse, func(line string) error { out.WriteString(line + "\n"); return nil })
	if err == nil {
		err = ctx.Err()
	}
	return out.String(), err
}

// tools is what prepares Kafka's tools.
type tools struct{}

func (tools) prepare(context.Context) error {
	_, err := toolCommand()
	return err
}
