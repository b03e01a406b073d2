package cli

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// The commands are right for the branch that is checked out when they are printed.
func TestMergeCommandsFitCurrentBranch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		at       launch.Checkout
		worktree bool
		how      loop.Outcome
		want     string
	}{
		{"on the loop's branch", launch.Checkout{Branch: "pawl/a"}, false, loop.Verified, "git switch main && git merge pawl/a   (you are on pawl/a)"},
		{"not known", launch.Checkout{}, false, loop.Verified, "git switch main && git merge pawl/a   (you are on pawl/a)"},
		{"the user went back", launch.Checkout{Branch: "main"}, false, loop.Verified, "git merge pawl/a   (you are on main)"},
		{"a status is not committed", launch.Checkout{Branch: "pawl/a", StateFiles: []string{"feat/progress.txt"}}, false, loop.Unverified, `git commit -m "loop ended" feat/progress.txt && git switch main && git merge pawl/a   (you are on pawl/a)`},
		{"worktree", launch.Checkout{Branch: "main"}, true, loop.Verified, "git merge pawl/a   (you are on main)"},
		{"worktree, the user went elsewhere", launch.Checkout{Branch: "x"}, true, loop.Finished, "git switch main && git merge pawl/a   (you are on x)"},
		{"worktree, another loop has the checkout", launch.Checkout{Branch: "pawl/b", Busy: "b"}, true, loop.Unverified, "git switch main && git merge pawl/a   (when loop b has ended: it uses your checkout)"},
		{"worktree, not known", launch.Checkout{}, true, loop.Verified, "git switch main && git merge pawl/a"},
		{"not done", launch.Checkout{Branch: "pawl/a"}, false, loop.Stuck, "git switch main   (you are on pawl/a)"},
		{"not done, the user went back", launch.Checkout{Branch: "main"}, false, loop.Stuck, ""},
		{"not done, worktree", launch.Checkout{Branch: "x"}, true, loop.Stuck, ""},
	} {
		spec := record.Repository{StartBranch: "main", Branch: "pawl/a", UsesWorktree: c.worktree}
		if got := mergeCommand(c.at, spec, c.how); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
