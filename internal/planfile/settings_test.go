package planfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/planfile"
)

// A comment that was meant for Pawl and is not read is named; others are nobody's business.
func TestCommentsThatAreNotRead(t *testing.T) {
	t.Parallel()
	const text = `# Plan

- [ ] a <!-- pawl: evidence=unproven -->
- [ ] b <!-- pawl evidence=unproven -->
- [ ] c <!-- pwal: evidence=unproven -->
- [ ] d <!-- Pawl: evidence=unproven -->
- [ ] e <!-- pawl is asked for evidence -->
- [ ] f <!-- TODO: pawl -->
`
	f, err := planfile.Decode("plan.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`plan.md:4: this comment is not read: <!-- pawl evidence=unproven -->: expected "<!-- pawl: … -->", with the colon`,
		`plan.md:5: this comment is not read: <!-- pwal: evidence=unproven -->: expected "<!-- pawl: … -->", with the colon`,
		`plan.md:6: this comment is not read: <!-- Pawl: evidence=unproven -->: expected "<!-- pawl: … -->", with the colon`,
	}
	if diff := cmp.Diff(want, planfile.Lines("plan.md", f.Odd())); diff != "" {
		t.Error(diff)
	}
}

// Any capital letter with a number is an id where a colon follows; where two tasks have the
// same one, it is a mark of something else.
func TestIDsOfALetterAndANumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"- [ ] W1: x\n- [ ] W2: y <!-- pawl: depends_on=W1 -->\n": {"W1 x", "W2 y"},
		"- [ ] P1: x\n- [ ] P1: y\n":                              {"1 P1: x", "2 P1: y"},
		"- [ ] V8 crashes\n- [ ] HTTP2: y\n":                      {"1 V8 crashes", "2 HTTP2: y"},
	} {
		f, err := planfile.Decode("plan.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, task := range f.Plan().Tasks {
			got = append(got, task.ID+" "+task.Title)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
