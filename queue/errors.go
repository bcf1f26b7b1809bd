package queue

import "errors"

var (
	// ErrFull says that MaxBytes are taken.
	ErrFull = errors.New("queue: full")
	// ErrExpired says that a message is not this delivery's any more: its
	// Visibility has passed, or the consumer was moved.
	ErrExpired = errors.New("queue: the message is no longer out with this delivery")
	// ErrClosed says that the queue is closed.
	ErrClosed = errors.New("queue: closed")
	// ErrName says that a consumer's name is empty or too long.
	ErrName = errors.New("queue: a consumer's name has 1 to 255 bytes")

	errForgotten = errors.New("queue: the consumer was forgotten")
)
