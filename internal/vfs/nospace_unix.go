//go:build unix && !linux

package vfs

func hostNoSpace(err error) error { return err }
