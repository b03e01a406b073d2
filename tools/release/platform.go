package main

import (
	"fmt"
	"slices"
	"strings"
)

// platform is a system and a processor, by Go's names.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// exe returns the suffix of a program's name.
func (p platform) exe() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

// platforms are all that a release is for.
func platforms() []platform {
	var all []platform
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, platform{system, arch})
		}
	}
	return all
}

// platformsOf are those of a list, all for an empty one.
func platformsOf(list string) ([]platform, error) {
	if list == "" {
		return platforms(), nil
	}
	var some []platform
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms(), func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("no release is made for %q, but for %v", name, platforms())
		}
		some = append(some, platforms()[i])
	}
	return some, nil
}
