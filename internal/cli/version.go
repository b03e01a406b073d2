package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

func (versionCmd) Help() string { return "  pawl version" }

// Run prints the version.
func (versionCmd) Run(a *app) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	a.printf("pawl %s\n", versionOf(info))
	return nil
}

// versionOf is what the build says of itself: the module's version and, where
// the source was a checkout, its commit.
func versionOf(info *debug.BuildInfo) string {
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
