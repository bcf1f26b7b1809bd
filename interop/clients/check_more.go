package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seglog/seglog/internal/apache"
)

// more is what Kafka's own tools do besides: offsets, groups, log directories.
func (b *bench) more(ctx context.Context) error {
	if _, ok := b.client.(console); !ok {
		return errUnable
	}
	topic, group := b.name+"-more", b.name+"-more"
	if err := b.topic(ctx, topic, 1); err != nil {
		return err
	}
	if _, err := b.produced(ctx, produce{topic: topic, acks: "all", codec: "none", to: b.records}); err != nil {
		return err
	}
	s := &session{bench: b, topic: topic, id: group, got: make(map[int]bool)}
	leave := s.join(ctx)
	err := s.until(ctx, "the member", func() error { return s.complete(b.records) })
	leave()
	s.wg.Wait()
	if err = errors.Join(err, s.failed()); err != nil {
		return err
	}
	records := filepath.Join(b.dir, topic+".json")
	err = os.WriteFile(records, fmt.Appendf(nil, `{"version":1,"partitions":[{"topic":%q,"partition":0,"offset":7}]}`, topic), 0o644)
	if err != nil {
		return err
	}

	at := func(end int) string { return fmt.Sprintf("%s:0:%d \n", topic, end) }
	for _, call := range []struct {
		tool string
		args []string
		want string // in what it says, but for blanks
	}{
		{apache.GetOffsets, []string{"--topic", topic}, at(b.records)},
		{apache.ConsumerGroups, []string{"--list"}, group + " \n"},
		{apache.ConsumerGroups, []string{"--describe", "--group", group}, fmt.Sprintf("%s %s 0 %d %d 0 ", group, topic, b.records, b.records)},
		{apache.ConsumerGroups, []string{"--describe", "--state", "--group", group}, " Empty 0"},
		{apache.ConsumerGroups, []string{"--reset-offsets", "--group", group, "--topic", topic, "--to-offset", "5", "--execute"}, topic + " 0 5"},
		{apache.ConsumerGroups, []string{"--describe", "--group", group}, fmt.Sprintf("%s %s 0 5 %d %d ", group, topic, b.records, b.records-5)},
		{apache.ConsumerGroups, []string{"--delete-offsets", "--group", group, "--topic", topic}, topic + " 0 Successful"},
		{apache.ConsumerGroups, []string{"--delete", "--group", group}, "successful"},
		{apache.DeleteRecords, []string{"--offset-json-file", records}, "low_watermark: 7"},
		{apache.GetOffsets, []string{"--topic", topic, "--time", "earliest"}, at(7)},
		{apache.GetOffsets, []string{"--topic", topic, "--time", "max-timestamp"}, topic + ":0:"},
		{apache.Topics, []string{"--alter", "--topic", topic, "--partitions", "4"}, ""},
		{apache.Topics, []string{"--describe", "--topic", topic}, "PartitionCount: 4"},
		{apache.Topics, []string{"--list"}, topic + " \n"},
		{apache.LogDirs, []string{"--describe", "--topic-list", topic}, `"partition":"` + topic + `-0"`},
		{apache.APIVersions, nil, "ApiVersions(18): 0 to"},
	} {
		out, err := told(ctx, call.tool, append([]string{"--bootstrap-server", b.addr}, call.args...)...)
		if err != nil {
			return fmt.Errorf("%s %q: %w", call.tool, call.args, err)
		}
		if !strings.Contains(squeezed(out), call.want) {
			return fmt.Errorf("%s %q says %q, want %q in it", call.tool, call.args, out, call.want)
		}
	}
	groups, err := b.ListGroups(ctx)
	if _, there := groups[group]; there {
		err = errors.Join(err, fmt.Errorf("%s is still there", group))
	}
	return err
}

// squeezed has one blank for several.
func squeezed(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, " \n") + " \n"
}
