package differential

import (
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// merge puts together what an answer tells of one topic in several places: how
// a request that names it more than once is answered is not compared.
func merge(resp kmsg.Response) {
	if _, fetch := resp.(*kmsg.FetchResponse); fetch {
		return // the order of whose answer means something
	}
	mergeIn(reflect.ValueOf(resp).Elem())
}

func mergeIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if v.Type().Field(i).Name == "Topics" && f.Kind() == reflect.Slice {
				mergeTopics(f)
			}
			mergeIn(f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			mergeIn(v.Index(i))
		}
	}
}

func mergeTopics(list reflect.Value) {
	type key struct {
		name string
		id   any
	}
	at := make(map[key]int)
	kept := reflect.MakeSlice(list.Type(), 0, list.Len())
	for i := range list.Len() {
		t := list.Index(i)
		parts, name := t.FieldByName("Partitions"), t.FieldByName("Topic")
		if !parts.IsValid() || name.Kind() != reflect.String {
			return
		}
		k := key{name: name.String()}
		if id := t.FieldByName("TopicID"); id.IsValid() {
			k.id = id.Interface()
		}
		if j, ok := at[k]; ok {
			first := kept.Index(j).FieldByName("Partitions")
			first.Set(reflect.AppendSlice(first, parts))
			continue
		}
		at[k] = kept.Len()
		kept = reflect.Append(kept, t)
	}
	if kept.Len() < list.Len() {
		list.Set(kept)
	}
}
