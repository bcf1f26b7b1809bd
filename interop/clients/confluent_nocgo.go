//go:build !cgo

package main

import (
	"context"
	"errors"
)

// confluent needs cgo.
type confluent struct {
	noAdmin
}

func (confluent) prepare(context.Context) error {
	return errors.New("built without cgo, which librdkafka needs: install gcc")
}
func (confluent) produce(context.Context, string, produce, func(int)) error { return errUnable }
func (confluent) consume(context.Context, string, consume, func(record)) error {
	return errUnable
}
func (confluent) member(context.Context, string, string, string, func(record)) error {
	return errUnable
}
