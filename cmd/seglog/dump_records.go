package main

import (
	"fmt"
	"strconv"

	"github.com/seglog/seglog/record"
)

// batchRecords prints the records of a batch, indented below its line.
func (p *linePrinter) batchRecords(j *dumpJob, b record.Batch) {
	line := j.text
	_ = p.decoder.Reset(b) // Next returns the error, too
	control := b.Control()
	var r record.Record
	for {
		ok, err := p.decoder.Next(&r)
		if err != nil {
			line = append(append(line, p.red(oneLine(fmt.Sprintf("  BAD: %v", err)))...), '\n')
			j.faults++
		}
		if !ok || err != nil {
			break
		}
		line = p.offset.append(append(line, "  offset "...), r.Offset)
		if r.Time.IsZero() {
			line = append(line, ", no time"...)
		} else {
			line = p.clock.append(append(line, ", "...), r.Time)
		}
		if control {
			line = appendControl(line, &r)
		} else {
			line = p.appendBody(line, &r)
		}
		for i, h := range r.Headers {
			if i == 0 {
				line = append(line, ", headers"...)
			}
			line = strconv.AppendQuote(append(line, ' '), h.Key)
			line = appendExcerpt(append(line, '='), h.Value)
		}
		line = append(line, '\n')
	}
	j.text = line
}

// appendBody appends key and value, decoded where the topic is a coordinator's.
// What is not understood there is printed as bytes, as of any topic.
func (p *linePrinter) appendBody(line []byte, r *record.Record) []byte {
	if p.decode != nil {
		if key, value, err := p.decode(r.Key, r.Value); err == nil {
			if value == nil {
				value = []byte("null")
			}
			line = append(append(line, ", key "...), key...)
			return append(append(line, ", value "...), value...)
		}
	}
	if r.Key == nil {
		line = append(line, ", key null, value "...)
	} else {
		line = append(appendExcerpt(append(line, ", key "...), r.Key), ", value "...)
	}
	return appendExcerpt(line, r.Value)
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
