// Package version says which build of Pawl this is: the module's version and,
// where the source was a checkout, its commit.
//
// The tool and its hook print it, so that a hook of another build than the tool
// beside it is told; nothing else is made to depend on it.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// String is such as "v1.2.3 (commit 3f2a9c1b04de) linux/amd64 go1.26.0".
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return of(info)
}

// of returns the version from the build info: the module's version and, where
// the source was a checkout, its commit.
func of(info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = fmt.Sprintf(" (commit %.12s", s.Value)
		case "vcs.modified":
			if s.Value == "true" {
				changed = ", with changes"
			}
		}
	}
	if commit != "" {
		commit += changed + ")"
	}
	return fmt.Sprintf("%s%s %s/%s %s", version, commit, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
