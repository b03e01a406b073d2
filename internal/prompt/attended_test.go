package prompt_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/prompt"
)

func attended() prompt.Data {
	d := data()
	d.Attended, d.NoCommit = true, true
	return d
}

func TestAttendedGolden(t *testing.T) {
	t.Parallel()
	d := attended()
	golden(t, "attended-first", render(t, prompt.First, d))
	d.Reason = "these files judge the work: put them back as they were, or ask the person to change them: Makefile"
	d.Failed = nil
	golden(t, "attended-struck", render(t, prompt.Struck, d))
}

func TestNothingAttendedSpeaksOfWhatPawlDoesNotDoThere(t *testing.T) {
	t.Parallel()
	for _, kind := range prompt.Kinds() {
		d := attended()
		d.Reason = reasons[kind]
		got := render(t, kind, d)
		for _, wrong := range []string{"Pawl commits it", "has put it back", "git status"} {
			if strings.Contains(got, wrong) {
				t.Errorf("%s says %q:\n%s", kind, wrong, got)
			}
		}
	}
}

func TestAttendedPromptsPassThroughAHook(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a longer goal than one types, é ", 300)
	for _, kind := range prompt.Kinds() {
		for name, d := range map[string]prompt.Data{"as it is": attended(), "large": large(long)} {
			got := render(t, kind, d)
			limit := prompt.MaxAttended
			if kind == prompt.Continue {
				limit = prompt.MaxContinue
			}
			if len(got) > limit {
				t.Errorf("%s, %s: %d bytes", kind, name, len(got))
			}
			if kind != prompt.Explore && kind != prompt.Periodic && !strings.Contains(got, "<blocked>") {
				t.Errorf("%s, %s: the way out was cut off", kind, name)
			}
		}
	}
}

func large(goal string) prompt.Data {
	d := attended()
	d.Goal, d.Overview, d.Task.Detail = goal, goal, goal
	for range 50 {
		d.Notes, d.Lessons, d.Recap = append(d.Notes, goal), append(d.Lessons, goal), append(d.Recap, goal)
		d.Gates, d.Failed = append(d.Gates, d.Gates[0]), append(d.Failed, d.Failed[0])
	}
	return d
}

func TestALongGoalIsReferredTo(t *testing.T) {
	t.Parallel()
	d := prompt.Data{Goal: "Write a parser. " + strings.Repeat("More about it. ", 1000), Attended: true, GoalFile: "/state/goal.md"}
	got := render(t, prompt.First, d)
	if len(got) > 4000 || !strings.Contains(got, "As the person asked above in this conversation, in full. It begins: Write a parser.") ||
		!strings.Contains(got, "read it in /state/goal.md") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
	d.Goal = strings.Repeat("x", prompt.MaxGoalAttended)
	if got = render(t, prompt.First, d); !strings.Contains(got, d.Goal) {
		t.Errorf("a goal that fits is not told:\n%s", got)
	}
	d.Goal, d.Attended = strings.Repeat("x", prompt.MaxGoalAttended+1), false
	if got = render(t, prompt.First, d); !strings.Contains(got, d.Goal) {
		t.Errorf("a long goal of the runner's is not told:\n%s", got)
	}
}
