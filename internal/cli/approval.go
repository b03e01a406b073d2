package cli

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// waitsForYes returns what the loop waits for the user to approve, where they name no
// files, and no task or that one.
func (s *subject) waitsForYes(files, tasks []string) (loop.Question, bool) {
	if len(files) > 0 || s.memory.State.Outcome != "" {
		return loop.Question{}, false
	}
	for _, q := range s.memory.State.Unanswered() {
		if q.Approve != "" && (len(tasks) == 0 || slices.Equal(tasks, []string{q.Task})) {
			return q, true
		}
	}
	return loop.Question{}, false
}

// sayYes answers what waits for the user's yes: by that, or by why not.
func (a *app) sayYes(s *subject, q loop.Question, answer string) error {
	what := "approved: "
	if !loop.Approves(answer) {
		what = "not approved: "
	}
	m := record.Message{Kind: record.MessageAnswer, Text: a.withoutSecrets(answer), Tasks: []string{q.Task}}
	return a.say(a.sayOfTests(s, "", m, what+plan.OneLine(q.Text, 200)))
}

const changesMax = 20 // files of an approval that are named

// changes name the files that an approval would accept.
func (a *app) changes(s *subject, q loop.Question) (lines []string) {
	if q.Diff() == "" {
		return nil
	}
	ctx := a.untilSignal()
	repo, err := launch.Repo(ctx, s.Loop)
	if err != nil {
		return []string{"its changes cannot be listed: " + err.Error()}
	}
	tree := q.Tree
	if tree == "" {
		if tree, _, err = repo.Snapshot(ctx); err != nil {
			return []string{"its changes cannot be listed: " + err.Error()}
		}
	}
	diff, err := repo.Diff(ctx, q.Base, tree)
	if err != nil {
		return []string{"its changes cannot be listed: " + err.Error()}
	}
	for i, c := range diff {
		if i == changesMax {
			return append(lines, "and "+figure.Count(len(diff)-i, "more file"))
		}
		lines = append(lines, string(c.Status)+" "+c.Path)
	}
	return lines
}
