package work

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// DataGlob is a kind of file in a folder that was changed together with the program.
type DataGlob struct {
	Glob    string
	Commits int
}

// maxDataGlobs bounds the globs that ProgramData returns, minSharedCommits the commits that it wants.
const (
	maxDataGlobs     = 3
	minSharedCommits = 2
)

// structuredData are endings of data that a program may read, and of settings.
const structuredData = `.json .yaml .yml .xml .toml .ini .properties .csv .tsv .txt`

// ProgramData finds data of the program among the files that count as gate inputs: what
// was changed together with source files, by the paths that each commit changed. Files at
// the top are settings more often, and those of a tool stay what they are. The most
// often changed come first.
func (r Rules) ProgramData(commits [][]string, isTest func(file string) bool) []DataGlob {
	sharedCommits := map[string]int{}
	for _, paths := range commits {
		if !slices.ContainsFunc(paths, func(file string) bool { return IsSource(file) && !isTest(file) }) {
			continue
		}
		seen := map[string]bool{}
		for _, file := range paths {
			if mayBeProgramData(file) && !isTest(file) && !r.IsWork(Change{Path: file}) {
				seen[path.Dir(file)+"/*"+path.Ext(file)] = true
			}
		}
		for glob := range seen {
			sharedCommits[glob]++
		}
	}
	var found []DataGlob
	for _, glob := range slices.Sorted(maps.Keys(sharedCommits)) {
		if n := sharedCommits[glob]; n >= minSharedCommits {
			found = append(found, DataGlob{glob, n})
		}
	}
	slices.SortStableFunc(found, func(a, b DataGlob) int { return cmp.Compare(b.Commits, a.Commits) })
	return found[:min(len(found), maxDataGlobs)]
}

// mayBeProgramData reports whether a file may be data of the program: it lies below the top, and has not the name of a
// tool's settings.
func mayBeProgramData(file string) bool {
	base := path.Base(file)
	return path.Dir(file) != "." && contains(structuredData, strings.ToLower(path.Ext(file))) && !strings.HasPrefix(base, ".") && !isToolFileName(base) &&
		!IsManifest(file) && !gateInputs().Match(file) && !lockFiles().Match(base)
}
