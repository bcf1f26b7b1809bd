package vfs

import (
	"io/fs"
	"time"
)

// memInfo is a node as Stat and ReadDir saw it.
type memInfo struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func infoOf(name string, n *memNode) memInfo { return memInfo{name, n.size, n.mode, n.modified} }

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return i.modified }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memInfo) Sys() any           { return nil }
