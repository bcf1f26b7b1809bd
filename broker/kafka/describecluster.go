package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func serveDescribeCluster(q *call, req *kmsg.DescribeClusterRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrDescribeClusterResponse()
	if q.version >= 1 && req.EndpointType != 1 {
		err := kerr.UnsupportedEndpointType
		if req.EndpointType == 2 { // the controllers'
			err = kerr.MismatchedEndpointType
		}
		resp.ErrorCode, resp.ErrorMessage, resp.ControllerID = err.Code, detail(err), -1
		return resp, nil
	}
	one := kmsg.NewDescribeClusterResponseBroker()
	one.NodeID = q.s.b.NodeID()
	one.Host, one.Port = q.s.address(q.c)
	resp.Brokers = append(resp.Brokers, one)
	resp.ClusterID, resp.ControllerID = q.s.b.ClusterID(), one.NodeID
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	return resp, nil
}
