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
