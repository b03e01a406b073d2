//go:build !linux

package deps

import "io/fs"

// HasChangeTime reports whether ChangeTime tells.
const HasChangeTime = false

// ChangeTime is not asked for here: size and time of the content must do.
func ChangeTime(fs.FileInfo) int64 { return 0 }
