package vfs

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// place is where a node is: a name in a directory.
type place struct {
	dir  *memNode
	name string
}

// tree says where nodes are. A node is in one place or in none; there are no
// hard links. Mem has two trees over the same nodes: what everyone sees, and
// what a power cut cannot take back.
type tree struct {
	root *memNode
	at   map[*memNode]place
	in   map[*memNode]map[string]*memNode // by directory
}

func newTree(root *memNode) tree {
	return tree{root: root, at: map[*memNode]place{}, in: map[*memNode]map[string]*memNode{}}
}

// put moves n to p, or adds it there, over whatever was there.
func (t tree) put(n *memNode, p place) {
	t.drop(n)
	if over := t.in[p.dir][p.name]; over != nil {
		t.drop(over)
	}
	if t.in[p.dir] == nil {
		t.in[p.dir] = map[string]*memNode{}
	}
	t.in[p.dir][p.name] = n
	t.at[n] = p
}

// drop takes n out of its place, if it has one.
func (t tree) drop(n *memNode) {
	if p, ok := t.at[n]; ok {
		delete(t.in[p.dir], p.name)
		delete(t.at, n)
	}
}

func (t tree) has(n *memNode) bool {
	_, ok := t.at[n]
	return ok
}

// names lists a directory, sorted.
func (t tree) names(dir *memNode) []string { return slices.Sorted(maps.Keys(t.in[dir])) }

// nodes lists all nodes but the root in the order in which they were made:
// random choices made on the way repeat from their seed, whatever the names.
func (t tree) nodes() []*memNode {
	list := make([]*memNode, 0, len(t.at))
	for n := range t.at {
		if t.reachable(n) {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *memNode) int { return cmp.Compare(a.number, b.number) })
	return list
}

// reachable says whether n is below the root: a crash may keep the removal of a
// directory without that of what was in it.
func (t tree) reachable(n *memNode) bool {
	for n != t.root {
		p, ok := t.at[n]
		if !ok {
			return false
		}
		n = p.dir
	}
	return true
}

// find is the node of a path and, as far as its directory exists, its place.
// Both are zero as far as nothing is there.
func (t tree) find(path string) (*memNode, place) {
	n, p := t.root, place{}
	for _, name := range components(path) {
		if n == nil || !n.isDir() {
			return nil, place{}
		}
		p = place{n, name}
		n = t.in[n][name]
	}
	return n, p
}

// components splits a path. Relative paths start at the root, too.
func components(path string) []string {
	path = filepath.ToSlash(filepath.Join(string(filepath.Separator), path))
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}
