package broker_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

func openFaulty(t *testing.T, dir string) (*broker.Broker, *vfs.Faulty) {
	t.Helper()
	fsys := vfs.NewFaulty(vfs.OS)
	b, err := broker.Open(dir, broker.Options{Env: log.Env{FS: fsys}})
	require.NoError(t, err)
	t.Cleanup(func() {
		fsys.Clear()
		if err := b.Close(); err != nil && !errors.Is(err, broker.ErrClosed) {
			t.Error(err)
		}
	})
	return b, fsys
}

func names(b *broker.Broker) (list []string) {
	for _, t := range b.Topics() {
		list = append(list, t.Name())
	}
	return list
}

func specs(partitions int32, names ...string) (list []broker.TopicSpec) {
	for _, n := range names {
		list = append(list, broker.TopicSpec{Name: n, Partitions: partitions})
	}
	return list
}

// TestCreateTopics: each topic of a request is created or not by itself, and told
// of in order; the file is written twice for all of them.
func TestCreateTopics(t *testing.T) {
	dir := t.TempDir()
	b, fsys := openFaulty(t, dir)
	create(t, b, "there", 1, nil)
	writes := fsys.Add(vfs.Rule{Op: vfs.OpRename, Path: broker.StateFile})
	got := b.CreateTopics(t.Context(), specs(3, "a", "there", "b.c", "b_c", "b.c", "", "d"))
	require.Equal(t, 2, writes.Matched())
	for i, want := range []error{nil, kerr.TopicAlreadyExists, nil, kerr.InvalidTopicException, kerr.TopicAlreadyExists, kerr.InvalidTopicException, nil} {
		require.ErrorIs(t, got[i].Err, want)
		require.Equal(t, want == nil, got[i].Topic != nil, "topic %d", i)
	}
	require.Equal(t, "d", got[6].Topic.Name())
	require.Equal(t, []string{"a", "b.c", "d", "there"}, names(b))
	require.Equal(t, int64(0), produce(t, b, "d", 2, "x"))

	validated := b.CreateTopics(t.Context(), []broker.TopicSpec{{Name: "e", Partitions: 2, ValidateOnly: true}, {Name: "a", ValidateOnly: true}})
	require.NoError(t, validated[0].Err)
	require.Equal(t, int32(2), validated[0].Topic.Count())
	require.ErrorIs(t, validated[1].Err, kerr.TopicAlreadyExists)
	require.Equal(t, 2, writes.Matched())

	require.NoError(t, b.Close())
	require.ErrorIs(t, b.CreateTopics(t.Context(), specs(1, "f"))[0].Err, broker.ErrClosed)
	require.Equal(t, []string{"a", "b.c", "d", "there"}, names(open(t, dir, nil)))
}

// TestCreateTopicsFailing: what cannot be made of one topic, or not be written
// down of all, is undone, and can be tried again.
func TestCreateTopicsFailing(t *testing.T) {
	broken := errors.New("broken")
	for what, c := range map[string]struct {
		rule vfs.Rule
		left []string
	}{
		"a directory":      {vfs.Rule{Op: vfs.OpMkdir, Path: "b-1", Err: broken}, []string{"a", "c"}},
		"an epoch":         {vfs.Rule{Op: vfs.OpRename, Path: "leader-epoch-checkpoint", Count: 1, Err: broken}, nil},
		"what is to be":    {vfs.Rule{Op: vfs.OpRename, Path: broker.StateFile, Count: 1, Err: broken}, nil},
		"what is there":    {vfs.Rule{Op: vfs.OpRename, Path: broker.StateFile, After: 1, Count: 1, Err: broken}, nil},
		"never again":      {vfs.Rule{Op: vfs.OpRename, Path: broker.StateFile, After: 1, Err: broken}, nil},
		"an epoch and all": {vfs.Rule{Op: vfs.OpRename, Path: "leader-epoch-checkpoint", Err: broken}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			b, fsys := openFaulty(t, dir)
			fsys.Add(c.rule)
			for _, one := range b.CreateTopics(t.Context(), specs(2, "a", "b", "c")) {
				if one.Err != nil {
					require.ErrorIs(t, one.Err, kerr.KafkaStorageError)
					require.Nil(t, one.Topic)
				}
			}
			if what == "an epoch" { // of which, they are made together
				require.Len(t, names(b), 2)
			} else {
				require.Equal(t, c.left, names(b))
			}
			fsys.Clear()
			for _, one := range b.CreateTopics(t.Context(), specs(2, "a", "b", "c")) {
				if one.Err != nil {
					require.ErrorIs(t, one.Err, kerr.TopicAlreadyExists)
				}
			}
			require.Equal(t, []string{"a", "b", "c"}, names(b))
			require.Equal(t, int64(0), produce(t, b, "b", 1, "x"))
			require.NoError(t, b.Close())
			again := open(t, dir, nil)
			require.Equal(t, []string{"a", "b", "c"}, names(again))
			require.Equal(t, []string{"x"}, values(t, again, "b", 1, 0))
		})
	}
}
