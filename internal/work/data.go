package work

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// DataGlob is a glob of files in one folder that commits changed together with the program.
type DataGlob struct {
	Glob    string
	Commits int
}

// maxDataGlobs bounds the globs that ProgramData returns, minSharedCommits the commits that it wants.
const (
	maxDataGlobs     = 3
	minSharedCommits = 2
)

// structuredData are the extensions of files that hold data or settings.
const structuredData = `.json .yaml .yml .xml .toml .ini .properties .csv .tsv .txt`

// ProgramData finds gate inputs that are probably data of the program: files that were
// committed together with source files. commits has the paths that each commit changed.
// Files at the top level are left out, since they are mostly settings, and so are the files
// of tools. The most often changed come first.
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

// mayBeProgramData reports whether a file may be data of the program: it is not at the top level
// and does not have the name of a tool's settings.
func mayBeProgramData(file string) bool {
	base := path.Base(file)
	return path.Dir(file) != "." && contains(structuredData, strings.ToLower(path.Ext(file))) && !strings.HasPrefix(base, ".") && !isToolFileName(base) &&
		!IsManifest(file) && !gateInputs().Match(file) && !lockFiles().Match(base)
}
