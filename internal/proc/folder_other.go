//go:build !linux

package proc

// WorksIn is true where the folders of other processes cannot be told cheaply: one may.
func WorksIn(string, string) bool { return true }
