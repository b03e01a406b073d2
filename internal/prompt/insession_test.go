package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/prompt"
)

func inSession() prompt.Data {
	d := data()
	d.InSession, d.Alone, d.NoCommit = true, false, true
	return d
}

func TestInSessionGolden(t *testing.T) {
	t.Parallel()
	d := inSession()
	golden(t, "in-session-first", render(t, prompt.First, d))
	d.Reason = "these files judge the work: put them back as they were, or ask the user to change them: Makefile"
	d.Failed = nil
	golden(t, "in-session-violation", render(t, prompt.Violation, d))
}

// What a session is told that knows the goal, that has just come to a loop, or
// that another tool's file drives.
func TestSessionPromptsGolden(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind prompt.Kind
		set  func(*prompt.Data)
	}{
		"again-verify":   {prompt.Verify, func(d *prompt.Data) { d.Again = true }},
		"again-open":     {prompt.Verify, func(d *prompt.Data) { d.Again, d.Failed = true, nil }},
		"again-answer":   {prompt.Answer, func(d *prompt.Data) { d.Again = true }},
		"again-explore":  {prompt.Explore, func(d *prompt.Data) { d.Again = true }},
		"again-periodic": {prompt.Periodic, func(d *prompt.Data) { d.Again, d.Notes = true, nil }},
		"from-session": {prompt.Fresh, func(d *prompt.Data) {
			d.InSession, d.Alone, d.Moved = false, true, "the context is 81 % full"
		}},
		"into-session": {prompt.Fresh, func(d *prompt.Data) { d.Moved = "the user took it with pawl start --take" }},
		"feature-list": {prompt.Next, func(d *prompt.Data) {
			d.Alone, d.MayAsk, d.Retell, d.Marks = true, false, true, ".claude/data/ralph-loops/current/feature_list.json"
		}},
		"verify-active": {prompt.Verify, func(d *prompt.Data) {
			d.Again, d.Retell, d.Notes = true, true, nil
			d.Heading = "## Shell Verification FAILED (Iteration 2/5)"
		}},
		"th-loop": {prompt.Explore, func(d *prompt.Data) {
			d.Again, d.Retell, d.Notes = true, true, []string{"New in the channel:\n\nFrom temp/th-channel.md:1:\n## 10:00 nao\nlook around"}
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := inSession()
			d.Overview, d.Open = "", 0
			test.set(&d)
			golden(t, name, render(t, test.kind, d))
		})
	}
}

func TestOutputOfAFailure(t *testing.T) {
	t.Parallel()
	var long []string
	for i := range 3000 {
		long = append(long, fmt.Sprintf("line %d of the output", i+1))
	}
	for name, test := range map[string]struct {
		res        gate.Result
		shown, not []string
	}{
		"no program":           {gate.Result{ExitCode: -1, Reason: "outside of the scope"}, []string{"result: failed\nreason: outside of the scope"}, []string{"exit code"}},
		"beginning and end":    {gate.Result{Tail: strings.Join(long, "\n"), ExitCode: 2}, []string{"exit code 2", "line 1 of", "lines left out", "line 3000 of"}, []string{"line 1500 of"}},
		"the error is in it":   {gate.Result{Tail: "a.go:1: no\nFAIL", FirstError: "a.go:1: no"}, []string{"\n\na.go:1: no\nFAIL\n"}, []string{"no\n\na.go"}},
		"the error is not":     {gate.Result{Tail: "FAIL", FirstError: "a.go:1: no"}, []string{"\n\na.go:1: no\n\nFAIL\n"}, nil},
		"a long error alone":   {gate.Result{FirstError: strings.Join(long, "\n")}, []string{"line 1 of", "line 60 of", "…"}, []string{"line 3000 of"}},
		"no output":            {gate.Result{ExitCode: 1}, []string{"result: failed, exit code 1\n```\n"}, nil},
		"backticks":            {gate.Result{Tail: "```\n````"}, []string{"`````output\n", "\n```\n````\n`````\n"}, nil},
		"colours":              {gate.Result{Tail: "\x1b[31mFAIL\x1b[0m"}, []string{"\nFAIL\n"}, nil},
		"timed out":            {gate.Result{TimedOut: true, Duration: 90 * time.Second, Tail: "one of two"}, []string{"timed out after 1m30s\n", "\none of two\n"}, nil},
		"a commit hook's word": {gate.Result{Gate: "commit hook", FirstError: "no\nand no"}, []string{"no\nand no\n"}, nil},
	} {
		got := render(t, prompt.Verify, prompt.Data{Again: true, InSession: true, Failed: []gate.Result{test.res}})
		for _, want := range test.shown {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in:\n%s", name, want, got)
			}
		}
		for _, not := range test.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q in:\n%s", name, not, got)
			}
		}
	}
}

func TestNothingInASessionSpeaksOfWhatPawlDoesNotDoThere(t *testing.T) {
	t.Parallel()
	for _, kind := range prompt.Kinds() {
		d := inSession()
		d.Reason = reasons[kind]
		got := render(t, kind, d)
		for _, wrong := range []string{"Pawl commits it", "has put it back", "git status"} {
			if strings.Contains(got, wrong) {
				t.Errorf("%s says %q:\n%s", kind, wrong, got)
			}
		}
	}
}

func TestPromptsInASessionPassThroughAHook(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a longer goal than one types, é ", 300)
	for _, kind := range prompt.Kinds() {
		again := large(long)
		again.Again, again.Retell = true, true
		for name, d := range map[string]prompt.Data{"as it is": inSession(), "large": large(long), "again": again} {
			got := render(t, kind, d)
			limit := prompt.MaxInSession
			if kind == prompt.Continue || d.Again {
				limit = prompt.MaxContinue
			}
			if len(got) > limit {
				t.Errorf("%s, %s: %d bytes", kind, name, len(got))
			}
			if !strings.Contains(got, "<blocked>") {
				t.Errorf("%s, %s: the way out was cut off", kind, name)
			}
		}
	}
}

func large(goal string) prompt.Data {
	d := inSession()
	d.Goal, d.Overview, d.Task.Detail = goal, goal, goal
	for range 50 {
		d.Notes, d.Lessons, d.Recap = append(d.Notes, goal), append(d.Lessons, goal), append(d.Recap, goal)
		d.Gates, d.Failed = append(d.Gates, d.Gates[0]), append(d.Failed, d.Failed[0])
	}
	return d
}

func TestALongGoalIsReferredTo(t *testing.T) {
	t.Parallel()
	d := prompt.Data{Goal: "Write a parser. " + strings.Repeat("More about it. ", 1000), InSession: true, GoalFile: "/state/goal.md"}
	got := render(t, prompt.First, d)
	if len(got) > 4000 || !strings.Contains(got, "As the user asked above in this conversation, in full. It begins: Write a parser.") ||
		!strings.Contains(got, "read it in /state/goal.md") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
	d.Goal = strings.Repeat("x", prompt.MaxGoalInSession)
	if got = render(t, prompt.First, d); !strings.Contains(got, d.Goal) {
		t.Errorf("a goal that fits is not told:\n%s", got)
	}
	d.Goal, d.InSession = strings.Repeat("x", prompt.MaxGoalInSession+1), false
	if got = render(t, prompt.First, d); !strings.Contains(got, d.Goal) {
		t.Errorf("a long goal of the runner's is not told:\n%s", got)
	}
}
