package work_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/work"
)

func TestProductDataIsWhatChangedWithTheProgram(t *testing.T) {
	t.Parallel()
	commits := [][]string{
		{"shop.go", "data/prices.json", "tsconfig.json", "tests/want.json"},
		{"shop.go", "data/prices.json", "data/taxes.json", "rules/a.yaml", ".github/workflows/ci.yml", "tests/want.json"},
		{"cart.go", "rules/b.yaml", "rules/c.yaml", "data/taxes.json", "web/package.json", "locales/en.json"},
		{"ci/settings.yaml", "more/x.json"},
		{"ci/settings.yaml", "more/x.json"},
		{"shop_test.go", "more/x.json"},
		{"shop.go", "once/x.json"},
		{"shop.go", "web/package.json", ".github/workflows/ci.yml", "tsconfig.json", "locales/en.json"},
	}
	isTest := func(file string) bool {
		return strings.HasPrefix(file, "tests/") || strings.HasSuffix(file, "_test.go")
	}
	want := []work.DataGlob{{Glob: "data/*.json", Commits: 3}, {Glob: "rules/*.yaml", Commits: 2}}
	if diff := cmp.Diff(want, work.Rules{}.ProgramData(commits, isTest)); diff != "" {
		t.Error(diff)
	}
	if got := (work.Rules{Globs: []string{"data/**", "rules/*"}}).ProgramData(commits, isTest); len(got) > 0 {
		t.Errorf("what is work already is proposed: %v", got)
	}
}
