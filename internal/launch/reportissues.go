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

// issueClient claims the issues of a loop and reports its end to them. The journal says what to
// report; the ledger records what was reported. Requests have a key by which the tracker
// recognizes repeated ones, so that another process can continue after a crash.
type issueClient struct {
	loop    *store.Loop
	spec    record.Spec
	program tracker.Program
	clean   func(string) string // removes secrets from text
	ledger  ledger
}

// ledger is tracker.json in the loop's folder.
type ledger struct {
	Claiming  []string          `json:"claiming,omitempty"`  // ids of issues whose claim was requested; its result is unknown
	Claimed   []string          `json:"claimed,omitempty"`   // ids of issues that the loop claimed, until it releases them
	Unclaimed []string          `json:"unclaimed,omitempty"` // ids of issues that the loop works on without a claim: the tracker was unreachable
	Refused   map[string]string `json:"refused,omitempty"`   // why the tracker refused the last claim, by id
	Reported  []string          `json:"told,omitempty"`      // keys of requests that were done
}

const ledgerName = "tracker.json"

// openIssues returns the issue client of a loop whose plan was made of issues.
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

// ask sends a request, with retries if the tracker asks for them.
func (d *issueClient) ask(ctx context.Context, r tracker.Request) (tracker.Reply, error) {
	r.Label = d.spec.Tracker.Label
	for _, pause := range []time.Duration{time.Second, 4 * time.Second} {
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

// key returns the key of a request, which depends on issue and text. It uses the text before
// secrets are removed, since their removal depends on the environment.
func (d *issueClient) key(r tracker.Request) string {
	sum := sha256.Sum256([]byte(string(r.Do) + "\x00" + r.Issue + "\x00" + r.Text))
	return fmt.Sprintf("%s %x", d.loop.ID, sum[:6])
}

// isReported reports whether an issue's end was reported and no claim is left.
func (d *issueClient) isReported(r tracker.Request) bool {
	release := slices.Contains(d.ledger.Claimed, r.Issue) || slices.Contains(d.ledger.Claiming, r.Issue)
	return !release && (r.Text == "" || slices.Contains(d.ledger.Reported, d.key(r)))
}

// report sends a request about an issue's end, once.
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
		if err != nil { // another one has claimed it: only add a comment
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

// ReportIssues reports the end of a loop to its issues, unless that was done before. Only the
// loop's owner may call it. It does nothing for a loop without issues.
func ReportIssues(ctx context.Context, l *store.Loop, env environment.Environment) error {
	d, untold, err := findUnreportedIssues(l, env)
	var failed error
	for n, i := range untold {
		told := d.report(ctx, i.ending)
		if told == nil {
			continue
		}
		told = fmt.Errorf("tell issue %s: %w", i.Key, told)
		failed = errors.Join(failed, told)
		if isUnreachable(told) || ctx.Err() != nil { // the tracker is unreachable for the others too
			if more := len(untold) - n - 1; more > 0 {
				failed = failure.New(failure.CodeOf(told), failure.Hint(told), "%w; nor %d more", failed, more)
			}
			break
		}
	}
	return errors.Join(err, failed)
}

// unreportedIssue is an issue to which the loop's end was not reported.
type unreportedIssue struct {
	record.Issue
	ending tracker.Request
}

// UnreportedIssues returns the keys of the issues to which the loop's end was not reported. It
// does not contact the tracker.
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

// endRequest returns the request that reports the end of an issue.
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

// comment returns a comment with the evidence for each task and the location of the work. Text
// that Pawl did not write is formatted as code, so that it mentions nobody and closes no issue.
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

// markdownCode formats a text as code in Markdown, or returns "" for an empty text.
func markdownCode(text string) string {
	if text = strings.ReplaceAll(plan.OneLine(text, 200), "`", "'"); text == "" {
		return ""
	}
	return "`" + text + "`"
}
