package differential

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// line is one field of a message.
type line struct{ path, value string }

func (l line) String() string { return l.path + " " + l.value }

// lines takes an answer apart. Lists of topics, members and the like have no
// order that means something, but in the answer to a fetch.
func lines(m kmsg.Response, n *names) []line {
	_, fetch := m.(*kmsg.FetchResponse)
	_, parts := m.(*kmsg.DescribeTopicPartitionsResponse)
	w := walker{names: n, ordered: fetch || parts}
	w.value("", "", reflect.ValueOf(m).Elem())
	return w.lines
}

type walker struct {
	names   *names
	ordered bool
	look    bool // at the names only
	lines   []line
}

func (w *walker) add(path, value string) { w.lines = append(w.lines, line{path, value}) }

func (w *walker) value(path, field string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		w.structure(path, v)
	case reflect.Pointer:
		if v.IsNil() {
			w.add(path, "null")
			return
		}
		w.value(path, field, v.Elem())
	case reflect.Slice:
		w.list(path, field, v)
	case reflect.Array:
		w.add(path, w.names.topicID(v.Interface().([16]byte), w.look))
	case reflect.String:
		w.add(path, w.names.text(field, v.String(), w.look))
	case reflect.Bool:
		w.add(path, fmt.Sprint(v.Bool()))
	default:
		if field == "ErrorCode" {
			w.add(path, errorName(int16(v.Int())))
			return
		}
		w.add(path, w.names.number(field, v.Int(), w.look))
	}
}

func (w *walker) structure(path string, v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i).Name
		switch field {
		case "ThrottleMillis", "Version":
			continue
		case "UnknownTags":
			tags := v.Field(i).Interface().(kmsg.Tags)
			if tags.Len() == 0 {
				continue
			}
			w.add(path+".UnknownTags", fmt.Sprint(tags.Len()))
			continue
		}
		w.value(strings.TrimPrefix(path+"."+field, "."), field, v.Field(i))
	}
}

func (w *walker) list(path, field string, v reflect.Value) {
	if v.IsNil() && v.Type().Elem().Kind() != reflect.Int32 {
		w.add(path, "null")
		return
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		if field == "Records" || field == "RecordBatches" {
			w.list(path, "", reflect.ValueOf(takeApart(v.Bytes(), w.names.prefix)))
			return
		}
		w.add(path, w.names.bytes(v.Bytes()))
		return
	}
	if v.Type().Elem().Kind() != reflect.Struct {
		w.add(path, w.scalars(field, v))
		return
	}
	elements := make([]reflect.Value, v.Len())
	for i := range elements {
		elements[i] = v.Index(i)
	}
	if !w.ordered && field != "ConfigSynonyms" { // the first one counts
		slices.SortStableFunc(elements, func(a, b reflect.Value) int { return strings.Compare(w.key(a), w.key(b)) })
	}
	w.add(path, fmt.Sprintf("%d of them", len(elements)))
	for i, e := range elements {
		w.value(fmt.Sprintf("%s[%d]", path, i), "", e)
	}
}

func (w *walker) scalars(field string, v reflect.Value) string {
	inner := walker{names: w.names, ordered: w.ordered, look: w.look}
	for i := range v.Len() {
		inner.value("", field, v.Index(i))
	}
	var all []string
	for _, l := range inner.lines {
		all = append(all, l.value)
	}
	return "[" + strings.Join(all, " ") + "]"
}

// key is what an element of a list is put in order by: itself, without the names
// that have no number yet.
func (w *walker) key(v reflect.Value) string {
	inner := walker{names: w.names, look: true}
	inner.value("", "", v)
	var b strings.Builder
	if named := v.FieldByName("Partition"); named.IsValid() && named.CanInt() {
		fmt.Fprintf(&b, "%09d ", named.Int()+1)
	}
	for _, name := range []string{"Topic", "TopicID", "Group", "MemberID", "Name", "ResourceName"} {
		if f := v.FieldByName(name); f.IsValid() {
			one := walker{names: w.names, look: true}
			one.value("", name, f)
			b.WriteString(one.lines[0].value + " ")
		}
	}
	for _, l := range inner.lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

func errorName(code int16) string {
	if code == 0 {
		return "0"
	}
	if e := kerr.TypedErrorForCode(code); e != nil {
		return fmt.Sprintf("%d %s", code, e.Message)
	}
	return fmt.Sprint(code)
}
