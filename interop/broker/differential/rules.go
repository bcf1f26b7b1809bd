package differential

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// rule is a difference that is kept on purpose, as narrow as it is.
type rule struct {
	why   string // with the row of docs/KAFKA-DIFFERENCES.md
	apply func(req kmsg.Request, kafka, ours []line) (kafkas, here []line)
}

var rules = []rule{
	{"where Kafka knows only that something went wrong, another error is as good", unknownErrors},
	{"texts of errors are each broker's own: where Kafka has none there may be one here", texts},
	{"where a batch does not fit Kafka tells of no list of aborted transactions, here it is empty", abortedOfNothing},
	{"row 1: a topic that Metadata creates is told of by the next answer", createdTopics},
	{"row 16: the largest time is not that of a record that was deleted", largestDeleted},
	{"row 3: a feature sets min.insync.replicas for Kafka's cluster", minInSync},
}

// apply makes two answers the same where they differ on purpose.
func apply(req kmsg.Request, all *[2][]line) {
	for _, r := range rules {
		all[0], all[1] = r.apply(req, all[0], all[1])
	}
}

func unknownErrors(_ kmsg.Request, kafka, ours []line) (_, _ []line) {
	const unknown = "-1 UNKNOWN_SERVER_ERROR"
	for _, l := range slices.Clone(kafka) {
		within, isCode := strings.CutSuffix(l.path, "ErrorCode")
		if !isCode || l.value != unknown || valueOf(ours, l.path) == "0" || valueOf(ours, l.path) == "" {
			continue
		}
		of := func(l line) bool {
			return strings.HasPrefix(l.path, within) && !strings.Contains(l.path[len(within):], "[")
		}
		kafka, ours = slices.DeleteFunc(kafka, of), slices.DeleteFunc(ours, of)
	}
	return kafka, ours
}

func createdTopics(req kmsg.Request, kafka, ours []line) (_, _ []line) {
	if metadata, ok := req.(*kmsg.MetadataRequest); !ok || !metadata.AllowAutoTopicCreation && metadata.Version >= 4 {
		return kafka, ours
	}
	for _, l := range slices.Clone(kafka) {
		within, isCode := strings.CutSuffix(l.path, "ErrorCode")
		if !isCode || l.value != errorName(3) || valueOf(ours, l.path) != "0" || valueOf(kafka, within+"Topic") != valueOf(ours, within+"Topic") {
			continue
		}
		of := func(l line) bool { return strings.HasPrefix(l.path, within) }
		kafka, ours = slices.DeleteFunc(kafka, of), slices.DeleteFunc(ours, of)
	}
	return kafka, ours
}

func abortedOfNothing(_ kmsg.Request, kafka, ours []line) (_, _ []line) {
	for i, l := range kafka {
		within, is := strings.CutSuffix(l.path, "AbortedTransactions")
		if is && l.value == "null" && valueOf(kafka, within+"ErrorCode") == "0" && valueOf(kafka, within+"RecordBatches") == "0 of them" &&
			valueOf(ours, l.path) == "0 of them" {
			kafka[i].value = "0 of them"
		}
	}
	return kafka, ours
}

// largestDeleted: the record that Kafka answers with comes before the one here.
func largestDeleted(req kmsg.Request, kafka, ours []line) (_, _ []line) {
	const largest = -3
	list, ok := req.(*kmsg.ListOffsetsRequest)
	if !ok {
		return kafka, ours
	}
	asked := make(map[string]bool)
	for _, t := range list.Topics {
		for _, p := range t.Partitions {
			asked[strconv.Itoa(int(p.Partition))] = asked[strconv.Itoa(int(p.Partition))] || p.Timestamp == largest
		}
	}
	for _, l := range slices.Clone(kafka) {
		within, is := strings.CutSuffix(l.path, "].Offset")
		if !is || !asked[valueOf(kafka, within+"].Partition")] {
			continue
		}
		theirs, _ := strconv.Atoi(l.value)
		own, err := strconv.Atoi(valueOf(ours, l.path))
		if err != nil || theirs < 0 || own >= 0 && own <= theirs {
			continue
		}
		for i, of := range kafka {
			if of.path == within+"].Timestamp" || of.path == within+"].Offset" || of.path == within+"].LeaderEpoch" {
				kafka[i].value = valueOf(ours, of.path)
			}
		}
	}
	return kafka, ours
}

func texts(_ kmsg.Request, kafka, ours []line) (_, _ []line) {
	for i, l := range kafka {
		if strings.HasSuffix(l.path, "ErrorMessage") && (l.value == "null" || l.value == `""`) && valueOf(ours, l.path) == "<text>" {
			kafka[i].value = "<text>"
		}
	}
	return kafka, ours
}

func valueOf(lines []line, path string) string {
	for _, l := range lines {
		if l.path == path {
			return l.value
		}
	}
	return ""
}

func minInSync(req kmsg.Request, kafka, ours []line) (_, _ []line) {
	without := func(lines []line) []line {
		var at []string
		for _, l := range lines {
			if strings.HasSuffix(l.path, ".Name") && l.value == `"min.insync.replicas"` {
				at = append(at, strings.TrimSuffix(l.path, "Name"))
			}
		}
		return slices.DeleteFunc(lines, func(l line) bool {
			return slices.ContainsFunc(at, func(at string) bool { return l.path == at+"Source" || strings.HasPrefix(l.path, at+"ConfigSynonyms") })
		})
	}
	switch req.(type) {
	case *kmsg.DescribeConfigsRequest, *kmsg.CreateTopicsRequest:
	default:
		return kafka, ours
	}
	return without(kafka), without(ours)
}
