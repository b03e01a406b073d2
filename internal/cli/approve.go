package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/term"
)

// approveCmd is `pawl approve`.
type approveCmd struct {
	approvalLoopArg
	Files []string `arg:"" optional:"" name:"file" help:"tests or other gate inputs; default: those that wait for approval; '**' = every test"`
	Task  []string `sep:"none" placeholder:"ID" help:"accept this task: one that waits for your approval, or of an ended loop, whatever its evidence; repeatable"`
}

// ProvideLoop finds the loop. With --task, it may be an ended one with unproven work.
func (c *approveCmd) ProvideLoop(a *app) (*loopinfo.Loop, error) {
	if len(c.Task) == 0 {
		return c.approvalLoopArg.ProvideLoop(a)
	}
	return a.findNewest(c.Loop, "", func(s *loopinfo.Loop) bool {
		return waitsForApproval(s) || s.HasEnded() && len(s.Memory.State.UnprovenTasks()) > 0
	})
}

// waitsForApproval reports whether a loop waits for the user to approve or reject something.
func waitsForApproval(s *loopinfo.Loop) bool {
	_, asks := awaitedApproval(s, nil, nil)
	return asks || len(s.Memory.State.Unapproved()) > 0
}

// Run approves changes of tests.
func (c *approveCmd) Run(a *app, s *loopinfo.Loop) error {
	if q, waits := awaitedApproval(s, c.Files, c.Task); waits {
		return a.answerApproval(s, q, "yes")
	}
	if len(c.Task) > 0 {
		return a.acceptWork(s, c)
	}
	paths, err := a.testPaths(s, c.Files)
	if err != nil {
		return err
	}
	if len(c.Files) == 0 {
		var inputs []string
		if paths, inputs = s.SplitTests(paths); len(inputs) > 0 {
			a.printf("not a test, so approve it by its name:  pawl approve %s %s\n", s.ID, term.Clean(strings.Join(inputs, " ")))
			if len(paths) == 0 {
				return failure.New(failure.Usage, "name the files:  pawl approve "+s.ID+" FILE", "no test waits for your approval")
			}
		}
	}
	return a.printText(a.approveTests(s, paths, ""))
}

// printText prints the words and returns the error.
func (a *app) printText(words string, err error) error {
	a.printf("%s", words)
	return err
}

// approveTests approves changes of these tests in a message with that id. It returns what happens
// next, in words.
func (a *app) approveTests(s *loopinfo.Loop, paths []string, id string) (string, error) {
	if s.HasEnded() {
		return a.approveEnded(s, paths)
	}
	if at := s.Spec.Policy.Approve; len(paths) == 0 && len(at) > 0 {
		when := map[loop.Approval]string{
			loop.ApprovePlan: "the plan (before the first task)", loop.ApproveClaim: "each claim", loop.ApproveTask: "each task (before its commit)",
			loop.ApproveEnd: "the end",
		}
		var words []string
		for _, point := range at {
			words = append(words, when[point])
		}
		return "", failure.New(failure.Usage, "pawl status "+s.ID+" shows when something waits for your approval",
			"nothing waits for your approval yet: loop %s will ask at: %s", s.ID, strings.Join(words, ", "))
	}
	if len(paths) == 0 {
		return "", failure.New(failure.Usage, "name the files:  pawl approve "+s.ID+" FILE  ('**' is every test)",
			"nothing waits for your approval: the agent has not asked to change any tests, and no work needs it")
	}
	return a.sendTestDecision(s, id, record.Message{Kind: record.MessageApprove, Paths: paths}, "the agent may change "+narrate.TestFiles(paths))
}

// acceptWork accepts the work of tasks that the user has read.
func (a *app) acceptWork(s *loopinfo.Loop, c *approveCmd) error {
	weak := s.Memory.State.UnprovenTasks()
	switch {
	case len(c.Files) > 0:
		return failure.New(failure.Usage, "approve files or the work of tasks, not both at once", "--task and a file were given")
	case !s.HasEnded() && waitsForApproval(s):
		return failure.New(failure.Usage, "pawl status "+s.ID+" shows what waits", "task %s of loop %s does not wait for your approval", term.Clean(strings.Join(c.Task, ", ")), s.ID)
	case !s.HasEnded():
		return failure.New(failure.Usage, "wait for its end, or  pawl stop "+s.ID, "loop %s has not ended", s.ID)
	}
	for _, id := range c.Task {
		if !slices.Contains(weak, id) {
			hint := "pawl report " + s.ID + " shows the result"
			if len(weak) > 0 {
				hint = "tasks that need one: " + strings.Join(weak, ", ")
			}
			if _, there := s.Memory.State.Task(id); !there {
				return failure.New(failure.Usage, hint, "loop %s has no task %s", s.ID, term.Clean(id))
			}
			return failure.New(failure.Usage, hint, "task %s of loop %s needs no approval", term.Clean(id), s.ID)
		}
	}
	return a.printText(a.applyToEnded(s, loop.Event{Payload: loop.Approved{Tasks: c.Task}}, "accepted the work of "+strings.Join(c.Task, ", ")))
}

// approveEnded accepts work of an ended loop that waited for the approval of these tests.
func (a *app) approveEnded(s *loopinfo.Loop, paths []string) (string, error) {
	waiting := s.Memory.State.Unapproved()
	if weak := s.Memory.State.UnprovenTasks(); len(waiting) == 0 && len(weak) > 0 {
		return "", failure.New(failure.Usage, "to accept work that you have read:  pawl approve "+s.ID+" --task "+strings.Join(weak, " --task "),
			"no test change waits for your approval in loop %s", s.ID)
	}
	if len(waiting) == 0 {
		return "", failure.New(failure.Usage, "pawl report "+s.ID+" shows the result",
			"loop %s has ended %s, and nothing waits for your approval", s.ID, s.Memory.State.Outcome)
	}
	for _, path := range paths {
		if path != loop.AllTests && !slices.Contains(waiting, path) {
			return "", failure.New(failure.Usage, "it waits for "+narrate.TestFiles(waiting), "loop %s has ended, and %s does not wait for your approval", s.ID, path)
		}
	}
	return a.applyToEnded(s, loop.Event{Payload: loop.Approved{Paths: paths}}, "approved "+narrate.TestFiles(paths))
}

// applyToEnded applies a user's decision to an ended loop and returns the result in words.
func (a *app) applyToEnded(s *loopinfo.Loop, e loop.Event, what string) (string, error) {
	ctx := a.untilSignal()
	st, err := launch.ApplyToEnded(ctx, s.Loop, a.env, e)
	if err != nil {
		return "", err
	}
	words := fmt.Sprintf("%s: %s\n", s.ID, what)
	if left := st.Unapproved(); len(left) > 0 {
		words += fmt.Sprintf("it still waits for %s\n", narrate.TestFiles(left))
	}
	why := ""
	if st.Reason != "" {
		why = ": " + plan.OneLine(st.Reason, 200)
	}
	words += fmt.Sprintf("it is %s now%s\n", st.Outcome, why)
	if weak := st.UnprovenTasks(); len(weak) > 0 {
		words += fmt.Sprintf("no test proves it; after reading it:  pawl approve %s --task %s\n", s.ID, strings.Join(weak, " --task "))
	}
	return words, nil
}

// rejectCmd is `pawl reject`.
type rejectCmd struct {
	approvalLoopArg
	Why   string   `help:"tell the agent why you do not approve"`
	Files []string `arg:"" optional:"" name:"file" help:"tests; default: those that the agent asked to change; '**' = every existing test"`
}

// Run rejects changes of tests.
func (c *rejectCmd) Run(a *app, s *loopinfo.Loop) error {
	if q, waits := awaitedApproval(s, c.Files, nil); waits {
		return a.answerApproval(s, q, cmp.Or(strings.TrimSpace(c.Why), "no"))
	}
	paths, err := a.testPaths(s, c.Files)
	if err != nil {
		return err
	}
	return a.printText(a.rejectTests(s, paths, decision{why: a.withoutSecrets(strings.TrimSpace(c.Why))}))
}

// decision is a user's rejection of changed tests: the reason, and the message's id ("" = a new one).
type decision struct{ id, why string }

// rejectTests rejects changes of these tests and returns what happens next, in words.
func (a *app) rejectTests(s *loopinfo.Loop, paths []string, d decision) (string, error) {
	if s.HasEnded() {
		return a.rejectEnded(s, paths, d)
	}
	if len(paths) == 0 {
		return "", failure.New(failure.Usage, "name the files:  pawl reject "+s.ID+" FILE", "the agent has not asked to change any tests")
	}
	m := record.Message{Kind: record.MessageReject, Paths: paths, Text: d.why}
	return a.sendTestDecision(s, d.id, m, "the agent may not change "+narrate.TestFiles(paths))
}

// rejectEnded reopens work of an ended loop that waited for the approval of these tests.
func (a *app) rejectEnded(s *loopinfo.Loop, paths []string, d decision) (string, error) {
	waiting := s.Memory.State.Unapproved()
	of := func(path string) bool { return path == loop.AllTests || slices.Contains(waiting, path) }
	if len(waiting) == 0 || !slices.ContainsFunc(paths, of) {
		return "", failure.New(failure.Usage, "to undo a change:  git checkout COMMIT~ -- FILE  (pawl report "+s.ID+" names the commits)",
			"loop %s has ended %s, and no change of %s waits for approval", s.ID, s.Memory.State.Outcome, narrate.TestFiles(paths))
	}
	words, err := a.applyToEnded(s, loop.Event{Payload: loop.Rejected{Paths: paths, Why: d.why}}, "rejected changes of "+narrate.TestFiles(paths))
	if err != nil {
		return "", err
	}
	return words + fmt.Sprintf("to have it done without them:  pawl resume %s\n", s.ID), nil
}

// sendTestDecision sends the user's decision to a loop that has not ended, and returns that in words. The
// loop applies only one of two messages with the same id.
func (a *app) sendTestDecision(s *loopinfo.Loop, id string, m record.Message, what string) (string, error) {
	if err := a.sendAs(s, cmp.Or(id, m.NewID()), m); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %s\n%s", s.ID, what, deliveryNote(s)), nil
}

// everyTest is the operand that stands for every test.
const everyTest = "**"

// testPaths returns the named files relative to the work tree, with slashes. Without names, it returns the
// tests that the agent asked for or changed.
func (a *app) testPaths(s *loopinfo.Loop, files []string) ([]string, error) {
	if len(files) == 0 {
		return s.Memory.State.Unapproved(), nil
	}
	var paths []string
	for _, file := range files {
		if file == everyTest {
			paths = append(paths, loop.AllTests)
			continue
		}
		rel, err := a.pathOf(s, file)
		if err != nil {
			return nil, err
		}
		there, err := a.isKnownFile(s, rel)
		if err != nil {
			return nil, err
		}
		if !there {
			return nil, failure.New(failure.Usage, "name it as from where you are; pawl report "+s.ID+" names the tests that were changed",
				"no such file: %s (neither in the work tree nor among the gate inputs of loop %s)", rel, s.ID)
		}
		paths = append(paths, rel)
	}
	return paths, nil
}

// isKnownFile reports whether a file exists in the work tree, waits for the user, or is in the tree of
// protected tests.
func (a *app) isKnownFile(s *loopinfo.Loop, rel string) (bool, error) {
	if slices.Contains(s.Memory.State.Unapproved(), rel) {
		return true, nil
	}
	if at, err := os.Lstat(filepath.Join(s.Spec.WorkTree(s.Loop), filepath.FromSlash(rel))); err == nil {
		return !at.IsDir(), nil
	}
	tree := cmp.Or(s.Memory.TestsTree, s.Memory.State.Start.Tree)
	if tree == "" {
		return false, nil
	}
	ctx := a.untilSignal()
	repo, err := launch.Repo(ctx, s.Loop)
	if err != nil {
		return false, err
	}
	entries, err := repo.Entries(ctx, tree, rel)
	if errors.Is(err, git.ErrNoRevision) { // the tree was deleted, so it protects nothing
		return false, nil
	}
	_, there := entries[rel]
	return there, err
}

// awaitedApproval returns the open question for an approval: that of the task, if one is named. If
// files are named, it returns none, because they are approved as tests.
func awaitedApproval(s *loopinfo.Loop, files, tasks []string) (loop.Question, bool) {
	if len(files) > 0 || s.Memory.State.Outcome != "" {
		return loop.Question{}, false
	}
	for _, q := range s.Memory.State.Unanswered() {
		if q.Approve != "" && (len(tasks) == 0 || slices.Equal(tasks, []string{q.Task})) {
			return q, true
		}
	}
	return loop.Question{}, false
}

// answerApproval answers a question for approval. The answer is a yes or the reason against it.
func (a *app) answerApproval(s *loopinfo.Loop, q loop.Question, answer string) error {
	what := "approved: "
	if !loop.Approves(answer) {
		what = "not approved: "
	}
	m := record.Message{Kind: record.MessageAnswer, Text: a.withoutSecrets(answer), Tasks: []string{q.Task}}
	return a.printText(a.sendTestDecision(s, "", m, what+plan.OneLine(q.Text, 200)))
}

const maxListedChanges = 20 // maximum number of files listed for an approval

// listChanges lists the files that an approval would accept.
func (a *app) listChanges(s *loopinfo.Loop, q loop.Question) (lines []string) {
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
		if i == maxListedChanges {
			return append(lines, "and "+figure.Count(len(diff)-i, "more file"))
		}
		lines = append(lines, string(c.Status)+" "+c.Path)
	}
	return lines
}
