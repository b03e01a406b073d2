package launch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tracker"
)

// issueClient claims the issues of a loop and tells them its end. What is to be told
// follows from the journal; the ledger holds what was told. So a process that dies in
// between leaves nothing that another could not do: a request has a key, by which the
// tracker knows what it did already.
type issueClient struct {
	loop    *store.Loop
	spec    record.Spec
	program tracker.Program
	clean   func(string) string // takes secrets out of text for other people
	ledger  ledger
}

// ledger is tracker.json in the loop's folder.
type ledger struct {
	Claiming  []string          `json:"claiming,omitempty"`  // ids of issues whose claim was begun: nobody knows whether it was made
	Claimed   []string          `json:"claimed,omitempty"`   // ids of issues that the loop claimed, until it releases them
	Unclaimed []string          `json:"unclaimed,omitempty"` // ids of issues that it works on without a claim: the tracker was out of reach
	Refused   map[string]string `json:"refused,omitempty"`   // why the tracker refused the last claim, by id
	Reported  []string          `json:"told,omitempty"`      // keys of requests that were done
}

const ledgerName = "tracker.json"

// openIssues returns the desk of a loop whose plan is one of issues.
func openIssues(l *store.Loop, spec record.Spec, env environment.Environment) (*issueClient, error) {
	d := &issueClient{loop: l, spec: spec, clean: redact.New(env.Vars).String}
	var err error
	if d.program, err = trackerProgram(*spec.Tracker, spec.Root, env); err != nil {
		return nil, err
	}
	err = atomicfile.ReadJSON(filepath.Join(l.Dir, ledgerName), &d.ledger)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what the tracker was told: %w", err)
	}
	return d, nil
}

func (d *issueClient) save() error {
	if err := atomicfile.WriteJSON(filepath.Join(d.loop.Dir, ledgerName), d.ledger); err != nil {
		return fmt.Errorf("keep what the tracker was told: %w", err)
	}
	return nil
}

// retryPauses are the pauses before a request is made again that may succeed later.
func retryPauses() []time.Duration { return []time.Duration{time.Second, 4 * time.Second} }

// ask makes a request, and again where that may help.
func (d *issueClient) ask(ctx context.Context, r tracker.Request) (tracker.Reply, error) {
	r.Label = d.spec.Tracker.Label
	for _, pause := range retryPauses() {
		answer, err := d.program.Ask(ctx, r)
		if told, ok := errors.AsType[*tracker.Error](err); !ok || !told.Retry {
			return answer, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return answer, err
		}
	}
	return d.program.Ask(ctx, r)
}

// key names a request: the same text for the same issue has the same one. Text is as it
// was before secrets were taken out, which depends on the environment.
func (d *issueClient) key(r tracker.Request) string {
	sum := sha256.Sum256([]byte(string(r.Do) + "\x00" + r.Issue + "\x00" + r.Text))
	return fmt.Sprintf("%s %x", d.loop.ID, sum[:6])
}

// isReported reports whether an issue's end was told, and no claim is left.
func (d *issueClient) isReported(r tracker.Request) bool {
	release := slices.Contains(d.ledger.Claimed, r.Issue) || slices.Contains(d.ledger.Claiming, r.Issue)
	return !release && (r.Text == "" || slices.Contains(d.ledger.Reported, d.key(r)))
}

// report makes a request about an issue's end once.
func (d *issueClient) report(ctx context.Context, r tracker.Request) error {
	if d.isReported(r) {
		return nil
	}
	r.Key = d.key(r)
	r.Text = d.clean(r.Text)
	if slices.Contains(d.ledger.Unclaimed, r.Issue) {
		err := d.claim(ctx, r.Issue)
		if err != nil && (ctx.Err() != nil || isUnreachable(err)) {
			return err
		}
		if err != nil { // it is somebody else's now: they read what was done, and the rest is theirs
			r.Do = tracker.Comment
		}
	}
	r.Release = slices.Contains(d.ledger.Claimed, r.Issue)
	if _, err := d.ask(ctx, r); err != nil {
		return err
	}
	d.ledger.Unclaimed = remove(d.ledger.Unclaimed, r.Issue)
	d.ledger.Claimed = remove(d.ledger.Claimed, r.Issue)
	if r.Text != "" {
		d.ledger.Reported = append(d.ledger.Reported, r.Key)
	}
	return d.save()
}

// ReportIssues tells the issues of a loop that has ended what came of them, as far as that
// was not done. Only who owns the loop may call it. A loop without issues tells nothing.
func ReportIssues(ctx context.Context, l *store.Loop, env environment.Environment) error {
	d, untold, err := findUnreportedIssues(l, env)
	var failed error
	for n, i := range untold {
		told := d.report(ctx, i.ending)
		if told == nil {
			continue
		}
		told = failure.New(failure.CodeOf(told), failure.Hint(told), "tell issue %s: %w", i.Key, told)
		failed = errors.Join(failed, told)
		if isUnreachable(told) || ctx.Err() != nil { // nor would it answer about the others
			if more := len(untold) - n - 1; more > 0 {
				failed = failure.New(failure.CodeOf(told), failure.Hint(told), "%w; nor %d more", failed, more)
			}
			break
		}
	}
	return errors.Join(err, failed)
}

// unreportedIssue is an issue that has not been told its end.
type unreportedIssue struct {
	record.Issue
	ending tracker.Request
}

// UnreportedIssues are the issues of a loop that has ended, as users know them, that were not
// told what came of them. It asks no tracker.
func UnreportedIssues(l *store.Loop, env environment.Environment) ([]string, error) {
	_, found, err := findUnreportedIssues(l, env)
	var keys []string
	for _, i := range found {
		keys = append(keys, i.Key)
	}
	return keys, err
}

func findUnreportedIssues(l *store.Loop, env environment.Environment) (*issueClient, []unreportedIssue, error) {
	spec, err := record.ReadSpec(l)
	if err != nil || spec.Tracker == nil {
		return nil, nil, err
	}
	m, _, err := record.Load(l)
	if err != nil || m.State.Phase != loop.Ended {
		return nil, nil, err
	}
	d, err := openIssues(l, spec, env)
	if err != nil {
		return nil, nil, err
	}
	var found []unreportedIssue
	for _, i := range spec.Tracker.Issues {
		tasks := tasksOf(m.State.Tasks, i)
		if !slices.ContainsFunc(tasks, func(t loop.Task) bool { return !t.DoneEarlier }) {
			continue // it was done before
		}
		if r := d.endRequest(i, tasks, m); !d.isReported(r) {
			found = append(found, unreportedIssue{i, r})
		}
	}
	return d, found, nil
}

// endRequest is what an issue is told.
func (d *issueClient) endRequest(i record.Issue, tasks []loop.Task, m memory.Memory) tracker.Request {
	r := tracker.Request{Do: tracker.Blocked, Issue: i.ID}
	proven := !slices.ContainsFunc(tasks, func(t loop.Task) bool { return t.Status != loop.Done || t.Unproven() })
	switch {
	case proven && m.State.Outcome != loop.Tampered:
		r.Do = tracker.Done
		r.Text = d.comment(fmt.Sprintf("**Done and verified** by Pawl (loop `%s`).", d.loop.ID), tasks, m)
	case m.State.Outcome == loop.CancelledEnd: // by its user, who may resume it
	default:
		why := "**Not done.** Pawl's loop `" + d.loop.ID + "` ended " + string(m.State.Outcome)
		if m.State.Reason != "" {
			why += ": " + markdownCode(m.State.Reason)
		}
		r.Text = d.comment(why, tasks, m)
	}
	return r
}

// comment is a comment: what was shown for each task, and where the work is. Everything that
// was not written by Pawl stands as code, so that it mentions nobody and closes nothing.
func (d *issueClient) comment(first string, tasks []loop.Task, m memory.Memory) string {
	var b strings.Builder
	b.WriteString(first + "\n\n")
	commits := false
	for _, t := range tasks {
		fmt.Fprintf(&b, "- %s: %s", markdownCode(t.ID+" "+t.Title), taskEnd(t))
		if t.Commit != "" {
			commits = true
			b.WriteString(", commit " + t.Commit[:min(12, len(t.Commit))])
		}
		b.WriteString("\n")
	}
	if commits {
		fmt.Fprintf(&b, "\nThe commits are on the branch %s.", markdownCode(d.spec.Branch))
	}
	if url := m.PullRequest.URL; url != "" {
		b.WriteString(" Pull request: " + url)
	}
	return strings.TrimSpace(b.String())
}

// taskEnd says how a task ended.
func taskEnd(t loop.Task) string {
	switch {
	case t.Status == loop.Done && t.DoneEarlier:
		return "done before"
	case t.Status == loop.Done && len(t.Flipped) > 0:
		return fmt.Sprintf("%s, %s failed before and passes now", t.Evidence, markdownCode(strings.Join(t.Flipped[:min(3, len(t.Flipped))], ", ")))
	case t.Status == loop.Done:
		return strings.TrimSuffix(fmt.Sprintf("%s, %s", t.Evidence, markdownCode(t.Why)), ", ")
	case t.Why != "":
		return fmt.Sprintf("%s, %s", t.Status, markdownCode(t.Why))
	}
	return string(t.Status)
}

// markdownCode is a text as code in Markdown; "" for none.
func markdownCode(text string) string {
	if text = strings.ReplaceAll(plan.OneLine(text, 200), "`", "'"); text == "" {
		return ""
	}
	return "`" + text + "`"
}
