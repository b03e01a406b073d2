package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
)

// Reviews are frozen with the spec: rubrics are read once, and each is a gate beside the typed
// commands.
func TestReviewsAreFrozenWithSpec(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	write(t, filepath.Join(root, "docs", "review.md"), "\n  Nothing is swallowed.\n")
	write(t, filepath.Join(root, "sub", "typed.md"), "It is real.")
	write(t, filepath.Join(root, "pawl.toml"), `
review = "@docs/review.md"
review_rounds = 2
[[gates]]
kind = "review"
rubric = "@docs/review.md"
model = "m"
[[gates]]
command = "true"
`)
	gates := func(dir string, flags map[string]any) []gate.Gate {
		t.Helper()
		q := sessionRequestIn(root, env, flags)
		q.Dir = dir
		p, err := launch.PrepareInSession(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if pol := p.Spec.Policy; !pol.Gates || !pol.Reviews || pol.ReviewRounds != 2 {
			t.Errorf("policy %+v", pol)
		}
		return p.Spec.Gates
	}
	fromFiles := []gate.Gate{
		{Name: "review", Kind: gate.ByReview, Rubric: "Nothing is swallowed.", Model: "m"},
		{Name: "true", Command: "true"},
		{Name: "review-2", Kind: gate.ByReview, Rubric: "Nothing is swallowed."},
	}
	if diff := cmp.Diff(fromFiles, gates(root, nil)); diff != "" {
		t.Errorf("from files: %s", diff)
	}
	typed := []gate.Gate{
		{Name: "make", Command: "make", Dir: "sub"},
		{Name: "review", Kind: gate.ByReview, Rubric: "It is real."},
		{Name: "review-2", Kind: gate.ByReview, Rubric: "No dead code."},
	}
	flags := map[string]any{"gates": []string{"make"}, "review": []string{"@typed.md", "No dead code."}}
	if diff := cmp.Diff(typed, gates(filepath.Join(root, "sub"), flags)); diff != "" {
		t.Errorf("typed: %s", diff)
	}
}

func TestInvalidRubricsAreRefused(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	write(t, filepath.Join(root, "..", "secret"), "s3cret")
	write(t, filepath.Join(root, "empty.md"), " \n")
	write(t, filepath.Join(root, "long.md"), strings.Repeat("x", 9<<10))
	if err := os.Symlink(filepath.Join(root, "..", "secret"), filepath.Join(root, "link.md")); err != nil {
		t.Skip("there are no links here:", err)
	}
	for config, want := range map[string]string{
		`review = "@../secret"`: "outside the work tree", `review = "@link.md"`: "outside the work tree",
		`review = "@none.md"`: "none.md", `review = "@empty.md"`: "it is empty", `review = "@long.md"`: "larger than 8192 bytes", `review = "@sub"`: "not a regular file",
		"[[gates]]\nkind = 'review'\nrubric = '@../secret'":          "outside the work tree",
		"[[gates]]\nkind = 'review'\nrubric = 'r'\nagent = 'nobody'": `unknown agent "nobody"`,
	} {
		write(t, filepath.Join(root, "pawl.toml"), config)
		_, err := launch.PrepareInSession(t.Context(), sessionRequestIn(root, env, nil))
		if failure.CodeOf(err) != failure.Usage || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
}
