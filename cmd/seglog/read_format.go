package main

import "github.com/seglog/seglog/record"

// formatter is the func that appends a record, newline included, in one of the
// formats of read.
func formatter(format, keySep string) func(dst []byte, r *record.Record) []byte {
	switch format {
	case "json":
		return appendJSON
	case "kv":
		return func(dst []byte, r *record.Record) []byte {
			if r.Key != nil {
				dst = append(append(dst, r.Key...), keySep...)
			}
			return appendValue(dst, r)
		}
	}
	return appendValue
}

func appendValue(dst []byte, r *record.Record) []byte {
	return append(append(dst, r.Value...), '\n')
}
