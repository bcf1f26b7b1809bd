package main

import (
	"strconv"

	"github.com/seglog/seglog/record"
)

// batchRecords prints the records of a batch, indented below its line.
func (d *dumper) batchRecords(b record.Batch, decoder *record.Decoder) {
	var line []byte
	for r, err := range decoder.Records(b) {
		if err != nil {
			d.bad("  BAD: %v", err)
			return
		}
		line = append(line[:0], "  offset "...)
		line = strconv.AppendInt(line, r.Offset, 10)
		if r.Time.IsZero() {
			line = append(line, ", no time"...)
		} else {
			line = d.clock.append(append(line, ", "...), r.Time)
		}
		if b.Control() {
			line = appendControl(line, &r)
		} else {
			line = d.appendBody(line, &r)
		}
		for i, h := range r.Headers {
			if i == 0 {
				line = append(line, ", headers"...)
			}
			line = strconv.AppendQuote(append(line, ' '), h.Key)
			line = appendExcerpt(append(line, '='), h.Value)
		}
		d.out.Write(append(line, '\n'))
	}
}

// appendBody appends key and value, decoded where the topic is a coordinator's.
// What is not understood there is printed as bytes, as of any topic.
func (d *dumper) appendBody(line []byte, r *record.Record) []byte {
	if d.decode != nil {
		if key, value, err := d.decode(r.Key, r.Value); err == nil {
			if value == nil {
				value = []byte("null")
			}
			line = append(append(line, ", key "...), key...)
			return append(append(line, ", value "...), value...)
		}
	}
	line = appendExcerpt(append(line, ", key "...), r.Key)
	return appendExcerpt(append(line, ", value "...), r.Value)
}

// appendControl tells a control record by its type.
func appendControl(line []byte, r *record.Record) []byte {
	t, err := record.ParseControl(r.Key)
	if err != nil {
		return appendExcerpt(append(line, ", control with the key "...), r.Key)
	}
	line = append(append(line, ", control "...), t.String()...)
	if t != record.ControlAbort && t != record.ControlCommit {
		return appendExcerpt(append(line, ", value "...), r.Value)
	}
	epoch, err := record.ParseEndTxn(r.Value)
	if err != nil {
		return appendExcerpt(append(line, ", value "...), r.Value)
	}
	return strconv.AppendInt(append(line, ", coordinator epoch "...), int64(epoch), 10)
}
