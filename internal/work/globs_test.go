package work_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/work"
)

// TestGlobsMatchAsOneByOne holds globs that were made ready against plain ones.
func TestGlobsMatchAsOneByOne(t *testing.T) {
	t.Parallel()
	parts := []string{"**/", "/**", "*", "?", "a", "test", ".go", "{a,test}", "{_,-,.}", "{,x}", "{[ab],t}", "[a-t]", "[^a]", `\*`, `\{`, "{a,{b,t}}", "{a/b,c}", "{", "}", "/", "]"}
	rapid.Check(t, func(rt *rapid.T) {
		pattern := ""
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(parts), 1, 6).Draw(rt, "pattern") {
			pattern += p
		}
		file := rapid.StringMatching(`[atesbx_.*/{-]{0,4}(test|a|a/b)?(\.go|t)?`).Draw(rt, "file")
		globs := []string{pattern, "never"}
		if got, want := work.CompileGlobs(globs).Match(file), work.Matches(globs, file); got != want {
			rt.Fatalf("%q names %q: %v, want %v", pattern, file, got, want)
		}
	})
}
