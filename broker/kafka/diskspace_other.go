//go:build !linux && !darwin && !freebsd

package kafka

import "errors"

func diskSpace(string) (total, usable int64, err error) {
	return 0, 0, errors.ErrUnsupported
}
