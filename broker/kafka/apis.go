package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
)

// api is how one API is served. Of serve and views one is set; views is for
// answers that have the log's memory in them.
type api struct {
	min, max int16 // as advertised
	usable   int16 // below it the connection is closed though it is advertised
	serve    func(*call, kmsg.Request) (kmsg.Response, error)
	views    func(*call, kmsg.Request) (reply, error)
}

// The keys that more than one file knows.
const (
	produce     = 0
	apiVersions = 18
)

// serves is an api whose request is of type R.
func serves[R kmsg.Request](minimum, maximum int16, serve func(*call, R) (kmsg.Response, error)) *api {
	return &api{min: minimum, max: maximum, serve: func(q *call, req kmsg.Request) (kmsg.Response, error) {
		return serve(q, req.(R))
	}}
}

// apis is all that is served, by key.
func apis() map[int16]*api {
	all := map[int16]*api{
		0:  serves(0, 13, serveProduce),
		1:  {min: 4, max: 18, views: serveFetch},
		2:  serves(1, 11, serveListOffsets),
		3:  serves(0, 13, serveMetadata),
		8:  serves(2, 10, serveOffsetCommit),
		9:  serves(1, 10, serveOffsetFetch),
		10: serves(0, 6, serveFindCoordinator),
		11: serves(0, 9, serveJoinGroup),
		12: serves(0, 4, serveHeartbeat),
		13: serves(0, 5, serveLeaveGroup),
		14: serves(0, 5, serveSyncGroup),
		15: serves(0, 6, serveDescribeGroups),
		16: serves(0, 5, serveListGroups),
		17: serves(0, 1, serveSASLHandshake),
		18: serves(0, 5, serveApiVersions),
		19: serves(2, 7, serveCreateTopics),
		20: serves(1, 6, serveDeleteTopics),
		21: serves(0, 2, serveDeleteRecords),
		22: serves(0, 5, serveInitProducerID),
		23: serves(2, 4, serveOffsetForLeaderEpoch),
		32: serves(1, 4, serveDescribeConfigs),
		33: serves(0, 2, serveAlterConfigs),
		35: serves(1, 5, serveDescribeLogDirs),
		36: serves(0, 2, serveSASLAuthenticate),
		37: serves(0, 3, serveCreatePartitions),
		42: serves(0, 3, serveDeleteGroups),
		43: serves(0, 2, serveElectLeaders),
		44: serves(0, 1, serveIncrementalAlterConfigs),
		47: serves(0, 0, serveOffsetDelete),
		60: serves(0, 2, serveDescribeCluster),
		61: serves(0, 0, serveDescribeProducers),
		75: serves(0, 0, serveDescribeTopicPartitions),
	}
	// Clients up to librdkafka 2.10 take a broker without the first versions for
	// one that knows no compression (KAFKA-18659).
	all[produce].usable = 3
	return all
}

// code is the number by which Kafka knows an error, 0 for none.
func code(err error) int16 {
	var k *kerr.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &k):
		return k.Code
	}
	return kerr.UnknownServerError.Code
}

// detail is an error's text, nil for none.
func detail(err error) *string {
	if err == nil {
		return nil
	}
	text := err.Error()
	var own *broker.Error
	if errors.As(err, &own) {
		text = own.Detail
	}
	return &text
}

// failed is one of Kafka's errors with a text.
func failed(k *kerr.Error, text string) error { return &broker.Error{Code: k, Detail: text} }
