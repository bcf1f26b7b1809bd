package metrics

import (
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// paths say where an answer has error codes: in fields of its own, and in those
// of the elements of lists. They are found once for each type, as looking fields
// up by name allocates.
type paths struct {
	code  int // the field, -1 for none
	lists []list
}

type list struct {
	field int
	of    *paths
}

// find finds those of a struct's type; nil if there are none.
func find(t reflect.Type) *paths {
	p := &paths{code: -1}
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Name == "ErrorCode" && f.Type.Kind() == reflect.Int16:
			p.code = i
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			if of := find(f.Type.Elem()); of != nil {
				p.lists = append(p.lists, list{i, of})
			}
		}
	}
	if p.code < 0 && p.lists == nil {
		return nil
	}
	return p
}

// count counts the error codes of an answer.
func (q *requestMetric) count(r *requestMetrics, resp kmsg.Response) {
	v := reflect.ValueOf(resp).Elem()
	p := q.paths.Load()
	if p == nil {
		if p = find(v.Type()); p == nil {
			p = &paths{code: -1}
		}
		q.paths.Store(p)
	}
	if fine := q.walk(r, p, v); fine > 0 {
		q.code(r, 0).Add(float64(fine))
	}
}

// walk counts codes but those that say NONE, of which it returns the number: an
// answer may have thousands.
func (q *requestMetric) walk(r *requestMetrics, p *paths, v reflect.Value) (fine int) {
	if p.code >= 0 {
		if code := int16(v.Field(p.code).Int()); code != 0 {
			q.code(r, code).Inc()
		} else {
			fine++
		}
	}
	for _, l := range p.lists {
		elements := v.Field(l.field)
		for i := range elements.Len() {
			fine += q.walk(r, l.of, elements.Index(i))
		}
	}
	return fine
}
