package version

import (
	"cmp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// Newest returns the newest release among the names of tags, such as "v1.10.0"; "" if
// there is none. Release candidates and other names are no releases.
func Newest(tags []string) string {
	newest := ""
	for _, tag := range tags {
		if numbers(tag) != nil && (newest == "" || IsNewer(tag, newest)) {
			newest = tag
		}
	}
	return newest
}

// IsNewer reports whether a release is newer than another.
func IsNewer(one, other string) bool {
	return slices.CompareFunc(numbers(one), numbers(other), cmp.Compare[int]) > 0
}

// Release returns the release that this program was built of, or "".
func Release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || numbers(info.Main.Version) == nil {
		return ""
	}
	return info.Main.Version
}

// numbers are the three numbers of a release, or nil.
func numbers(tag string) []int {
	parts := strings.Split(strings.TrimPrefix(tag, "v"), ".")
	if len(parts) != 3 || !strings.HasPrefix(tag, "v") {
		return nil
	}
	var all []int
	for _, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return nil
		}
		all = append(all, int(n))
	}
	return all
}
