package verify

import (
	"context"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/work"
)

// loadedByProgram reports of a file's name whether the program has it in its source, and neither a test nor a
// program that gates name has: such a file is data of the program. Where the sources cannot be read, or are too
// many, no file is.
func (v *Verifier) loadedByProgram(ctx context.Context, tree string, namedByGates func(file string) bool) func(base string) bool {
	nothing := func(string) bool { return false }
	entries, err := v.Repo.Entries(ctx, tree)
	if err != nil {
		return nothing
	}
	sources := map[string]git.Entry{}
	for file, e := range entries {
		if v.isTest(file) || work.IsSource(file) {
			sources[file] = e
		}
	}
	if len(sources) > maxDeclaring {
		return nothing
	}
	texts, err := v.Repo.Contents(ctx, sources, maxDeclaring, maxTextRead)
	if err != nil {
		return nothing
	}
	return func(base string) bool {
		loaded := false
		for file, text := range texts {
			if !strings.Contains(string(text), base) {
				continue
			}
			if v.isTest(file) || namedByGates(file) {
				return false
			}
			loaded = true
		}
		return loaded
	}
}
