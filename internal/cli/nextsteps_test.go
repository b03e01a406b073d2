package cli

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// The commands are right from where the checkout is when they are printed.
func TestMergingFromWhereTheCheckoutIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		at       checkout
		worktree bool
		how      loop.Outcome
		want     string
	}{
		{"on the loop's branch", checkout{branch: "pawl/a"}, false, loop.Verified, "git switch main && git merge pawl/a   (you are on pawl/a)"},
		{"not known", checkout{}, false, loop.Verified, "git switch main && git merge pawl/a   (you are on pawl/a)"},
		{"the user went back", checkout{branch: "main"}, false, loop.Verified, "git merge pawl/a   (you are on main)"},
		{"worktree", checkout{branch: "main"}, true, loop.Verified, "git merge pawl/a   (you are on main)"},
		{"worktree, the user went elsewhere", checkout{branch: "x"}, true, loop.Finished, "git switch main && git merge pawl/a   (you are on x)"},
		{"worktree, another loop has the checkout", checkout{"pawl/b", "b"}, true, loop.Unverified, "git switch main && git merge pawl/a   (when loop b has ended: it works in your checkout)"},
		{"worktree, not known", checkout{}, true, loop.Verified, "git switch main && git merge pawl/a"},
		{"not done", checkout{branch: "pawl/a"}, false, loop.Stuck, "git switch main   (you are on pawl/a)"},
		{"not done, the user went back", checkout{branch: "main"}, false, loop.Stuck, ""},
		{"not done, worktree", checkout{branch: "x"}, true, loop.Stuck, ""},
	} {
		spec := record.Repository{StartBranch: "main", Branch: "pawl/a", OwnWorktree: c.worktree}
		if got := c.at.merging(spec, c.how); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
