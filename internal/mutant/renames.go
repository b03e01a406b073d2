package mutant

import (
	"maps"
	"slices"
)

// Rename is a function that a change gave another name.
type Rename struct {
	Old, New string
	Path     string // where it is now
	Line     int
}

// minRenamed is the shortest text, without white space, by which a function is known again.
const minRenamed = 20

// Renames returns the functions of changed files that are gone, and whose text a new function of
// another name has. changed maps files to their texts before and after.
func Renames(changed map[string][2][]byte) (found []Rename) {
	had, has := map[string]bool{}, map[string]bool{}
	gone := map[string]string{} // by text
	for file, texts := range changed {
		for _, f := range functions(file, texts[1]) {
			has[BareName(f.name)] = true
		}
		for _, f := range functions(file, texts[0]) {
			had[BareName(f.name)] = true
		}
	}
	for file, texts := range changed {
		for _, f := range functions(file, texts[0]) {
			if text := bodyOf(f.text); len(text) >= minRenamed && !has[BareName(f.name)] {
				gone[text] = f.name
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(changed)) {
		for _, f := range functions(file, changed[file][1]) {
			if old := gone[bodyOf(f.text)]; old != "" && !had[BareName(f.name)] {
				found = append(found, Rename{old, f.name, file, f.line})
			}
		}
	}
	return found
}
