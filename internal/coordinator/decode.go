package coordinator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// ErrUnknown says that a record is of a kind or a version that is not read.
var ErrUnknown = errors.New("coordinator: unknown kind or version")

// ErrMalformed says that bytes are not what their version promises.
var ErrMalformed = errors.New("coordinator: malformed")

// Decode makes JSON of a record's key and value. A nil value, which deletes
// what the key names, stays nil.
type Decode func(key, value []byte) (keyJSON, valueJSON []byte, err error)

// Topics are the topics of coordinators.
var Topics = map[string]Decode{
	"__consumer_offsets":  Offsets,
	"__transaction_state": Transactions,
}

// named is how a key or a value is written: with its kind or version.
type keyText struct {
	Type string `json:"type"`
	Data any    `json:"data"`
}

type valueText struct {
	Version string `json:"version"`
	Data    any    `json:"data"`
}

// decode reads a record with the schemas of its topic: key gives the schema of
// a kind of key and the one of its values, each nil if it is not known.
func decode(key, value []byte, schemas func(kind int16) (key func(*reader) any, value func(*reader, int16) any)) (keyJSON, valueJSON []byte, err error) {
	r := reader{b: key}
	kind := r.int16()
	if r.err != nil {
		return nil, nil, r.err
	}
	readKey, readValue := schemas(kind)
	if readKey == nil {
		return nil, nil, fmt.Errorf("%w: key of type %d", ErrUnknown, kind)
	}
	k := readKey(&r)
	if r.err != nil {
		return nil, nil, r.err
	}
	keyJSON, err = marshal(keyText{strconv.Itoa(int(kind)), k})
	if err != nil || value == nil {
		return keyJSON, nil, err
	}
	r = reader{b: value}
	version := r.int16()
	v := readValue(&r, version)
	switch {
	case r.err != nil:
		return keyJSON, nil, r.err
	case v == nil:
		return keyJSON, nil, fmt.Errorf("%w: value of version %d", ErrUnknown, version)
	}
	valueJSON, err = marshal(valueText{strconv.Itoa(int(version)), v})
	return keyJSON, valueJSON, err
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
