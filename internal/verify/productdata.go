package verify

import (
	"context"
	"strings"
)

// productData returns whether a file of a given base name is data of the program: the program's source
// contains the name, and no test and no program that a gate names does. If the sources cannot be read,
// or are too many, it says no.
func (v *Verifier) productData(ctx context.Context, tree string, namedByGates func(file string) bool) func(base string) bool {
	texts, err := contentsOf(ctx, v.Repo, tree, v.files.sources, maxDeclaring+1)
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
		return loaded && err == nil && len(texts) <= maxDeclaring
	}
}
