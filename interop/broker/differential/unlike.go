package differential

import (
	"regexp"
	"slices"
	"strings"
)

var index = regexp.MustCompile(`\[\d+\]`)

// mostFields is how many a reader is shown.
const mostFields = 20

// unlike is in which fields two answers differ, for a reader, and the paths of
// these fields without what tells elements of a list apart.
func unlike(kafka, ours []line) (fields []string, paths string) {
	values := make(map[string][2]string)
	var order []string
	for i, lines := range [][]line{kafka, ours} {
		for _, l := range lines {
			v, ok := values[l.path]
			if !ok {
				order = append(order, l.path)
			}
			v[i] = l.value
			values[l.path] = v
		}
	}
	var kinds []string
	for _, path := range order {
		v := values[path]
		if v[0] == v[1] {
			continue
		}
		for i := range v {
			if v[i] == "" {
				v[i] = "(not there)"
			}
		}
		fields = append(fields, path+": Kafka "+v[0]+", here "+v[1])
		kinds = append(kinds, index.ReplaceAllString(path, ""))
	}
	if len(fields) > mostFields {
		fields = append(fields[:mostFields], "...")
	}
	slices.Sort(kinds)
	return fields, " " + strings.Join(slices.Compact(kinds), " ")
}
