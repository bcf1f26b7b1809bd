package kafka

import (
	"maps"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var softwareName = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`)

func serveApiVersions(q *call, req *kmsg.ApiVersionsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.FinalizedFeaturesEpoch = 0
	if q.version >= 3 && (!softwareName.MatchString(req.ClientSoftwareName) || !softwareName.MatchString(req.ClientSoftwareVersion)) {
		resp.ErrorCode = kerr.InvalidRequest.Code
		return resp, nil
	}
	if q.version >= 5 { // KIP-1242
		switch set := req.ClusterID != nil; {
		case set != (req.NodeID >= 0):
			resp.ErrorCode = kerr.InvalidRequest.Code
			return resp, nil
		case set && (*req.ClusterID != q.s.b.ClusterID() || req.NodeID != q.s.b.NodeID()):
			resp.ErrorCode = kerr.RebootstrapRequired.Code
			return resp, nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(q.s.apis)) {
		resp.ApiKeys = append(resp.ApiKeys, advertised(key, q.s.apis[key]))
	}
	return resp, nil
}

// unsupportedVersion is the answer to ApiVersions in a version that is not
// served, in version 0: the versions that are (KIP-511).
func unsupportedVersion(q *call) kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = kerr.UnsupportedVersion.Code
	resp.ApiKeys = append(resp.ApiKeys, advertised(q.key, q.api))
	return resp
}

func advertised(key int16, a *api) kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = key, a.min, a.max
	return k
}
