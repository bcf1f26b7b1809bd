package apache

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// freePorts is a port of loopback that is free, as is the next one. Both are below
// those that systems hand out: else a client that tries to connect while the broker
// is down may be given the broker's port for its own end, and hold it.
func freePorts() (int, error) {
	for range 1000 {
		if port := 15000 + rand.IntN(17000); free(port) && free(port+1) {
			return port, nil
		}
	}
	return 0, errors.New("no two ports in a row are free")
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
