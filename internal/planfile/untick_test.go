package planfile_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/planfile"
)

func TestUntickTakesBackWhatTickSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"a list":  {"plan.md", "- [x] one\n- [X] two\n", "- [ ] one\n- [X] two\n"},
		"a group": {"plan.md", "- [x] all\n  - [x] one\n  - [x] two\n", "- [ ] all\n  - [ ] one\n  - [x] two\n"},
		"JSON":    {"prd.json", `{"userStories":[{"id":"1","title":"one","passes":true}]}`, `{"userStories":[{"id":"1","title":"one","passes":false}]}`},
		"open":    {"plan.md", "- [ ] one\n", "- [ ] one\n"},
	} {
		f, err := planfile.Decode(c.file, []byte(c.text))
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := f.Untick(f.Plan().Tasks[0].ID, "none")
		if err != nil {
			t.Fatal(name, err)
		}
		if string(got.Bytes()) != c.want {
			t.Errorf("%s: got %q, want %q", name, got.Bytes(), c.want)
		}
	}
}

// An edited plan gets the marks of the plan it replaces, except for tasks that ask for something
// else.
func TestWithMarksOf(t *testing.T) {
	t.Parallel()
	decode := func(text string) *planfile.File {
		f, err := planfile.Decode("plan.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	now := decode("- [x] US-001: holds 1\n- [x] US-002: same\n- [ ] US-003: open\n")
	edited := decode("- [ ] US-001: holds ELEVEN\n- [ ] US-002: same\n- [x] US-003: open\n- [ ] US-004: new\n")
	got, err := edited.WithMarksOf(now)
	if want := "- [ ] US-001: holds ELEVEN\n- [x] US-002: same\n- [ ] US-003: open\n- [ ] US-004: new\n"; err != nil || string(got.Bytes()) != want {
		t.Errorf("got %q (%v), want %q", got.Bytes(), err, want)
	}
}
