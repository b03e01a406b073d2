//go:build !unix

package store

import "io/fs"

// checkOwner finds nothing: who may write where is not told by bits on this system.
func checkOwner(string, fs.FileInfo) error { return nil }
