package differential

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// clients of a conversation; one more waits for records.
const clients = 3

// generator makes conversations up. Whatever it decides by chance it decides
// when it makes a step, never when the step is sent.
type generator struct {
	*rand.Rand
	versions map[int16][2]int16 // that both brokers serve
	// squeezes: topics may compress anew what they get, how well is each broker's
	// own affair, and nothing is asked whose answer depends on it.
	squeezes bool
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// mostly is the first, or some of the time one of the others.
func mostly[T any](g *generator, percent int, usual T, others ...T) T {
	if g.chance(percent) {
		return usual
	}
	return pick(g, others...)
}

// ask is a step of some client.
func ask[R kmsg.Request](g *generator, key kmsg.Key, build func(*world, *client) R) step {
	return askOf(g, g.IntN(clients), key, build)
}

func askOf[R kmsg.Request](g *generator, by int, key kmsg.Key, build func(*world, *client) R) step {
	version := g.version(key)
	return step{client: by, make: func(w *world, c *client) kmsg.Request {
		req := build(w, c)
		req.SetVersion(version)
		return req
	}}
}

// version is one of those that both brokers serve, the last one more often.
func (g *generator) version(key kmsg.Key) int16 {
	v := g.versions[key.Int16()]
	if g.chance(30) {
		return v[1]
	}
	return v[0] + int16(g.IntN(int(v[1]-v[0])+1))
}

// topic is the number of one, rarely of one that is not there.
func (g *generator) topic() int {
	return pick(g, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, topics)
}

func (g *generator) partition() int32 { return pick[int32](g, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, -1) }

// several are one to three of what there may be.
func several[T any](g *generator, one func() T) []T {
	all := []T{one()}
	for g.chance(30) && len(all) < 3 {
		all = append(all, one())
	}
	return all
}

// distinct leaves what is there already out.
func distinct[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}

// kind is one kind of steps.
type kind func(*generator) []step

func single(one func(*generator) step) kind {
	return func(g *generator) []step { return []step{one(g)} }
}

// themes are what conversations are about, each kind as often as it is named.
var themes = [][]kind{
	{ // logs
		single(produce), single(produce), single(produce), single(produce), single(fetch), single(fetch), single(fetch), single(listOffsets),
		single(initProducerID), single(deleteRecords), single(offsetForLeaderEpoch), single(describeProducers), single(waitingFetch),
	},
	{ // sessions
		single(produce), single(produce), single(session), single(session), single(session), single(session), single(deleteRecords),
		single(deleteTopics), single(createTopics), single(createPartitions),
	},
	{ // groups
		rebalance, rebalance, single(join), single(join), single(syncGroup), single(syncGroup), single(heartbeat), single(heartbeat), single(leave),
		single(offsetCommit), single(offsetCommit), single(offsetFetch), single(describeGroups), single(describeGroups), single(listGroups),
		single(deleteGroups), single(offsetDelete),
	},
	{ // offsets
		single(offsetCommit), single(offsetCommit), single(offsetCommit), single(offsetFetch), single(offsetFetch), single(offsetDelete),
		rebalance, single(deleteTopics), single(createTopics), single(deleteGroups), single(describeGroups), single(listGroups), single(leave),
	},
	{ // topics
		single(createTopics), single(createTopics), single(deleteTopics), single(createPartitions), single(createPartitions), single(describeConfigs),
		single(alterConfigs), single(incrementalAlterConfigs), single(incrementalAlterConfigs), single(metadata), single(metadata), single(produce),
		single(fetch), single(listOffsets), single(deleteRecords), single(describeTopicPartitions), single(describeLogDirs), single(electLeaders),
	},
	{ // anything
		single(produce), single(produce), single(produce), single(fetch), single(fetch), single(session), single(session), single(waitingFetch), single(listOffsets), single(metadata),
		single(createTopics), single(deleteTopics), single(createPartitions), single(deleteRecords), single(describeConfigs), single(alterConfigs),
		single(incrementalAlterConfigs), single(offsetCommit), single(offsetFetch), single(offsetDelete), rebalance, rebalance, single(join), single(syncGroup),
		single(heartbeat), single(leave), single(describeGroups), single(listGroups), single(deleteGroups), single(offsetForLeaderEpoch), single(initProducerID),
		single(findCoordinator), single(describeProducers), single(describeTopicPartitions), single(describeLogDirs), single(electLeaders), single(describeCluster),
	},
}

// generate makes the conversation of a seed.
func generate(seed uint64, versions map[int16][2]int16) conversation {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 8)), versions: versions}
	g.squeezes = g.chance(15)
	theme := themes[g.IntN(len(themes))]
	c := conversation{seed: seed, clients: clients + 1}
	c.steps = append(c.steps, firstTopics(g), initProducerID(g))
	for length := 15 + g.IntN(50); len(c.steps) < length; {
		c.steps = append(c.steps, pick(g, theme...)(g)...)
	}
	return c
}
