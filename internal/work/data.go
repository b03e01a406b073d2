package work

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// Data is a kind of file in a folder that was changed together with the program.
type Data struct {
	Glob    string
	Commits int
}

// maxData bounds the globs that ProductData returns, minTogether the commits that it wants.
const (
	maxData     = 3
	minTogether = 2
)

// structured are endings of data that a program may read, and of settings.
const structured = `.json .yaml .yml .xml .toml .ini .properties .csv .tsv .txt`

// ProductData finds data of the program among the files that count as gate inputs: what
// was changed together with source files, by the paths that each commit changed. Files at
// the top are settings more often, and those of a tool stay what they are. The most
// often changed come first.
func (r Rules) ProductData(commits [][]string, isTest func(file string) bool) []Data {
	together := map[string]int{}
	for _, paths := range commits {
		if !slices.ContainsFunc(paths, func(file string) bool { return IsSource(file) && !isTest(file) }) {
			continue
		}
		seen := map[string]bool{}
		for _, file := range paths {
			if mayBeProductData(file) && !isTest(file) && !r.Is(Change{Path: file}) {
				seen[path.Dir(file)+"/*"+path.Ext(file)] = true
			}
		}
		for glob := range seen {
			together[glob]++
		}
	}
	var found []Data
	for _, glob := range slices.Sorted(maps.Keys(together)) {
		if n := together[glob]; n >= minTogether {
			found = append(found, Data{glob, n})
		}
	}
	slices.SortStableFunc(found, func(a, b Data) int { return cmp.Compare(b.Commits, a.Commits) })
	return found[:min(len(found), maxData)]
}

// mayBeProductData reports whether a file may be data of the program: it lies below the top, and has not the name of a
// tool's settings.
func mayBeProductData(file string) bool {
	base := path.Base(file)
	return path.Dir(file) != "." && has(structured, strings.ToLower(path.Ext(file))) && !strings.HasPrefix(base, ".") && !isToolsName(base) &&
		!IsManifest(file) && !inputs().Match(file) && !lockFiles().Match(base)
}
