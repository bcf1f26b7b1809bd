package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// serveSASLHandshake tells that this listener asks nobody who he is.
func serveSASLHandshake(*call, *kmsg.SASLHandshakeRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrSASLHandshakeResponse()
	resp.ErrorCode, resp.SupportedMechanisms = kerr.IllegalSaslState.Code, []string{}
	return resp, nil
}

func serveSASLAuthenticate(*call, *kmsg.SASLAuthenticateRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrSASLAuthenticateResponse()
	resp.ErrorCode, resp.ErrorMessage = kerr.IllegalSaslState.Code, kmsg.StringPtr("this listener is without SASL")
	resp.SASLAuthBytes = []byte{}
	return resp, nil
}
