package planfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/planfile"
)

// The edited plan is merged with what commands changed in the plan since. A second merge changes
// nothing.
func TestAcceptedEditIsMergedIntoThePlan(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, before, edit, now, want string
		since                         string
	}{
		{"nothing since", "- [ ] a\n- [ ] b\n", "- [ ] a\n- [ ] c\n", "- [x] a\n- [ ] b\n", "- [x] a\n- [ ] c\n", ""},
		{
			"a task added since", "- [ ] a\n- [ ] b\n", "- [ ] a\n- [ ] b\n- [ ] c\n", "- [x] a\n- [ ] b\n- [x] d\n",
			"- [x] a\n- [ ] b\n- [x] d\n- [ ] c\n", `task 3, "d", is added`,
		},
		{
			"added since, taken out by hand", "- [ ] a\n- [ ] b\n", "- [ ] a\n", "- [ ] a\n- [ ] b\n- [ ] d\n- [ ] e\n",
			"- [ ] a\n- [ ] d\n- [ ] e\n", `task 2, "d", is added; task 3, "e", is added`,
		},
		{
			"with ids", "- [ ] T1 a\n", "- [ ] T1 a <!-- pawl: scope=x -->\n", "- [ ] T1 a\n- [ ] T2 d\n",
			"- [ ] T1 a <!-- pawl: scope=x -->\n- [ ] T2 d\n", `task T2, "d", is added`,
		},
		{
			"another title since", "- [ ] a\n- [ ] b\n", "- [ ] a <!-- pawl: scope=x -->\n- [ ] b\n", "- [ ] both\n- [ ] b\n",
			"- [ ] both <!-- pawl: scope=x -->\n- [ ] b\n", `task 1 is now "both"`,
		},
		{"another title in both", "- [ ] a\n", "- [ ] by hand\n", "- [ ] by command\n", "- [ ] by hand\n", ""},
		{"an edit whose plan is unknown", "", "- [ ] a\n", "- [ ] a\n- [ ] d\n", "- [ ] a\n- [ ] d\n", `task 2, "d", is added`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "plan.edited.md")
			for name, text := range map[string]string{path: c.edit, planfile.BeforePath(path): c.before} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			now, err := planfile.Decode("plan.md", []byte(c.now))
			if err != nil {
				t.Fatal(err)
			}
			got, since, err := now.MergeAccepted(path)
			if err != nil || string(got.Bytes()) != c.want {
				t.Fatalf("the plan: %q (%v), want %q", got.Bytes(), err, c.want)
			}
			if s := strings.Join(since, "; "); s != c.since {
				t.Errorf("since: %q, want %q", s, c.since)
			}
			again, _, err := got.MergeAccepted(path)
			if err != nil || string(again.Bytes()) != c.want {
				t.Errorf("accepted twice: %q (%v)", again.Bytes(), err)
			}
		})
	}
}
