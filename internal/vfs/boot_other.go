//go:build !linux && !darwin

package vfs

func boot(string) string { return "" }
