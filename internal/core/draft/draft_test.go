package draft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/draft"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

const (
	questions = `{"questions":[{"question":"Which delimiter?","proposal":"comma"},{"question":"Which columns?","proposal":"all"}]}`
	goodPlan  = `{"title":"CSV","gates":["go test ./..."],"tasks":[{"id":"T1","title":"Write rows","criteria":["a row has a line"],"evidence":"proven","proof":"csv_test.go: TestRows"}]}`
	other     = `{"title":"CSV","gates":["go test ./..."],"tasks":[{"id":"T1","title":"Quote cells","criteria":["a comma is quoted"],"evidence":"proven","proof":"csv_test.go: TestQuotes"}]}`
	noRemarks = `{"remarks":[]}`
	remark    = `{"remarks":[{"task":"T1","problem":"Quotes are missing.","suggestion":"Quote cells with commas."}]}`
)

// TestConversationsEndInAPlan plays who is asked, for each way that a conversation goes.
func TestConversationsEndInAPlan(t *testing.T) {
	t.Parallel()
	// Said by agents, or by the user where the line begins with "user: ".
	tests := []struct {
		name    string
		said    []string
		steps   string // whom it waited for, at last how it ended
		title   string // of the only task
		warning string
	}{
		{"straight", []string{goodPlan, noRemarks}, "author critic finished", "Write rows", ""},
		{"in a fence", []string{"Here it is.\n```json\n" + goodPlan + "\n```", noRemarks}, "author critic finished", "Write rows", ""},
		{"questions", []string{questions, "user: semicolon", "user: ", goodPlan, noRemarks}, "author user user author critic finished", "Write rows", ""},
		{"asks again", []string{questions, "user: ", "user: ", questions, goodPlan, noRemarks}, "author user user author author critic finished", "Write rows", ""},
		{"revised", []string{goodPlan, remark, other}, "author critic author finished", "Quote cells", ""},
		{"rubbish, then a plan", []string{"I made a plan!", "{}", goodPlan, noRemarks}, "author author author critic finished", "Write rows", ""},
		{"rubbish for ever", []string{"a", "b", "c"}, "author author author failed", "", ""},
		{"a critic that talks", []string{goodPlan, "Looks good to me", "Fine", "Fine"}, "author critic critic critic finished", "Write rows", "the plan was not reviewed: "},
		{"a revision that is none", []string{goodPlan, remark, "a", "b", "c"}, "author critic author author author finished", "Write rows", "the plan was not revised after the review: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := draft.Start("export as CSV")
			steps := []string{strings.TrimPrefix(string(c.Step()), "ask_")}
			for _, said := range tt.said {
				if text, user := strings.CutPrefix(said, "user: "); user {
					c = c.Answer(text)
				} else {
					c = c.Reply(said)
				}
				steps = append(steps, strings.TrimPrefix(string(c.Step()), "ask_"))
			}
			if got := strings.Join(steps, " "); got != tt.steps {
				t.Errorf("steps %q, want %q (rejected: %s)", got, tt.steps, c.Rejected)
			}
			title := ""
			if len(c.Draft.Tasks) > 0 {
				title = c.Draft.Tasks[0].Title
			}
			if title != tt.title || !strings.HasPrefix(c.Warning, tt.warning) || (tt.warning == "") != (c.Warning == "") {
				t.Errorf("task %q, warning %q", title, c.Warning)
			}
		})
	}
}

func TestAnswersKeepTheirQuestions(t *testing.T) {
	t.Parallel()
	c := draft.Start("x").Reply(questions).Answer("semicolon").Answer(" ")
	want := []draft.Answer{{"Which delimiter?", "semicolon"}, {"Which columns?", "all"}}
	if diff := cmp.Diff(want, c.Answers); diff != "" {
		t.Error(diff)
	}
}

// TestInvalidDraftsAreRejected: each thing that is wrong is said, with the task's id.
func TestInvalidDraftsAreRejected(t *testing.T) {
	t.Parallel()
	good := draft.Task{ID: "T1", Title: "Write rows", Criteria: []string{"a row has a line"}, Evidence: "proven", Proof: "TestRows"}
	with := func(change func(*draft.Task)) []draft.Task { task := good; change(&task); return []draft.Task{task} }
	tests := []struct {
		name  string
		tasks []draft.Task
		gates []string
		want  string
	}{
		{"nothing", []draft.Task{good}, []string{"make test"}, ""},
		{"no tasks", nil, nil, "the plan has no tasks"},
		{"no gate", []draft.Task{good}, []string{" "}, "gates is empty"},
		{"an unproven task needs no gate", with(func(t *draft.Task) { t.Evidence = "unproven" }), nil, ""},
		{"id", with(func(t *draft.Task) { t.ID = "a b" }), []string{"x"}, "its id is not"},
		{"title", with(func(t *draft.Task) { t.Title = "a\nb" }), []string{"x"}, "its title is not"},
		{"criteria", with(func(t *draft.Task) { t.Criteria = []string{""} }), []string{"x"}, "no criteria"},
		{"evidence", with(func(t *draft.Task) { t.Evidence = "sure" }), []string{"x"}, "its evidence is not"},
		{"proof", with(func(t *draft.Task) { t.Proof = "" }), []string{"x"}, "its proof is empty"},
		{"scope", with(func(t *draft.Task) { t.Scope = []string{"../x"} }), []string{"x"}, `its scope "../x"`},
		{"dependency", with(func(t *draft.Task) { t.DependsOn = []string{"T2"} }), []string{"x"}, `depends on "T2"`},
		{"circle", with(func(t *draft.Task) { t.DependsOn = []string{"T1"} }), []string{"x"}, "circle"},
		{"twice", []draft.Task{good, good}, []string{"x"}, "used twice"},
		{"too many", many(draft.MaxTasks + 1), []string{"x"}, "there are 51 tasks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(draft.Draft{Tasks: tt.tasks, Gates: tt.gates}.Check(), "; ")
			if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func many(n int) []draft.Task {
	var out []draft.Task
	for i := range n {
		out = append(out, draft.Task{ID: fmt.Sprintf("T%d", i+1), Title: "x", Criteria: []string{"y"}, Evidence: "proven", Proof: "z"})
	}
	return out
}

// FuzzReply: whatever agents say, the conversation ends after a bounded number of
// replies, and a plan that is finished has nothing wrong with it.
func FuzzReply(f *testing.F) {
	f.Add(questions, goodPlan, remark)
	f.Add(goodPlan, noRemarks, other)
	f.Add("{}", `{"questions":[{"question":"","proposal":""}]}`, `{"tasks":[{"id":"T1","depends_on":["T1"]}]}`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		replies := []string{a, b, c}
		conversation := draft.Start("idea")
		for n := 0; ; n++ {
			switch conversation.Step() {
			case draft.AskUser:
				conversation = conversation.Answer("")
			case draft.AskAuthor, draft.AskCritic:
				conversation = conversation.Reply(replies[n%3])
			case draft.Finished:
				if wrong := conversation.Draft.Check(); len(wrong) > 0 {
					t.Fatalf("finished with %q", wrong)
				}
				return
			case draft.Failed:
				return
			}
			if n > 30 {
				t.Fatalf("no end; it waits for %s", conversation.Step())
			}
		}
	})
}

// Of a plan that is improved, what is done stays as it is, and others may depend on it.
func TestImproveRevisesThePlan(t *testing.T) {
	t.Parallel()
	old := plan.Plan{Title: "Export", Tasks: []plan.Task{
		{ID: "1", Title: "Set up", Done: true, DependsOn: []string{"2"}}, {ID: "2", Title: "All of it"},
	}}
	c := draft.Improve("split it", old).Reply(`{"gates":["make"],"tasks":[{"id":"A","title":"Rows","criteria":["c"],"depends_on":["9"],"evidence":"proven","proof":"p"}]}`)
	if c.Rejected == "" {
		t.Error("a dependency on nothing was taken")
	}
	c = c.Reply(`{"gates":["make"],"tasks":[{"id":"1","title":"Set it up","criteria":["c"],"evidence":"proven","proof":"p"},` +
		`{"id":"A","title":"Rows","criteria":["c"],"depends_on":["1"],"evidence":"proven","proof":"p"}]}`)
	want := plan.Plan{Title: "Export", Gates: []string{"make"}, Tasks: []plan.Task{
		{ID: "1", Title: "Set up", Done: true},
		{ID: "A", Title: "Rows", Criteria: []string{"c"}, DependsOn: []string{"1"}, Detail: "Checked by: p"},
	}}
	if diff := cmp.Diff(want, c.Plan(), cmpopts.EquateEmpty()); c.Rejected != "" || diff != "" {
		t.Errorf("%s (-want +got):\n%s", c.Rejected, diff)
	}
}
