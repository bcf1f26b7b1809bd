package differential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func without[T any](list []T, others func(T) bool) []T {
	if list = slices.DeleteFunc(list, others); len(list) == 0 {
		return nil // as it comes
	}
	return list
}

// own leaves in an answer about everything that a broker has what is of this
// conversation.
func (w *world) own(req kmsg.Request, resp kmsg.Response) {
	others := func(name string) bool { return !strings.HasPrefix(name, w.prefix) }
	switch resp := resp.(type) {
	case *kmsg.ListGroupsResponse:
		resp.Groups = without(resp.Groups, func(g kmsg.ListGroupsResponseGroup) bool { return others(g.Group) })
	case *kmsg.MetadataResponse:
		if asked := req.(*kmsg.MetadataRequest).Topics; len(asked) == 0 {
			resp.Topics = without(resp.Topics, func(t kmsg.MetadataResponseTopic) bool { return t.Topic == nil || others(*t.Topic) })
		}
	case *kmsg.DescribeLogDirsResponse:
		for i := range resp.Dirs {
			dir := &resp.Dirs[i]
			dir.Topics = without(dir.Topics, func(t kmsg.DescribeLogDirsResponseDirTopic) bool { return others(t.Topic) })
		}
	}
}

// learnIDs asks for the ids of the conversation's topics.
func (w *world) learnIDs() error {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 11
	for i := range topics + 1 {
		topic := kmsg.NewMetadataRequestTopic()
		name := w.topic(i)
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
	}
	resp, err := w.admin.ask(req)
	if err != nil {
		return err
	}
	for _, t := range resp.(*kmsg.MetadataResponse).Topics {
		if ids := w.ids[*t.Topic]; t.ErrorCode == 0 && !slices.Contains(ids, t.TopicID) {
			w.ids[*t.Topic] = append(ids, t.TopicID)
			w.names.topic(t.TopicID, *t.Topic, len(ids)+1)
		}
	}
	return nil
}

// leave deletes the topics of a conversation.
func (t *talk) leave() error {
	for _, w := range t.worlds {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.Version, req.TimeoutMillis = 5, 10_000
		for i := range topics + 1 {
			req.TopicNames = append(req.TopicNames, w.topic(i))
		}
		if _, err := w.admin.ask(req); err != nil {
			return fmt.Errorf("deleting topics: %w", err)
		}
	}
	return nil
}

// topics and groups are how many a conversation has. One topic more has a name
// and is made by nobody.
const (
	topics = 3
	groups = 2
)

func (w *world) topic(i int) string { return fmt.Sprintf("%st%d", w.prefix, i) }
func (w *world) group(i int) string { return fmt.Sprintf("%sg%d", w.prefix, i) }
