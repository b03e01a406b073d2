package launch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tracker"
)

// issueDesk claims the issues of a loop and tells them its end. What is to be told
// follows from the journal; the ledger holds what was told. So a process that dies in
// between leaves nothing that another could not do: a request has a key, by which the
// tracker knows what it did already.
type issueDesk struct {
	loop    *store.Loop
	spec    record.Spec
	program tracker.Program
	clean   func(string) string // takes secrets out of text for other people
	ledger  ledger
}

// ledger is tracker.json in the loop's folder.
type ledger struct {
	Claimed []string `json:"claimed,omitempty"` // ids of issues that the loop claimed, until it releases them
	Told    []string `json:"told,omitempty"`    // keys of requests that were done
}

const ledgerName = "tracker.json"

// openIssues returns the desk of a loop whose plan is one of issues.
func openIssues(l *store.Loop, spec record.Spec, root string, env environment.Environment) (*issueDesk, error) {
	d := &issueDesk{loop: l, spec: spec, clean: redact.New(env.Vars).String}
	var err error
	if d.program, err = trackerProgram(*spec.Tracker, root, env); err != nil {
		return nil, err
	}
	data, err := atomicfile.Read(filepath.Join(l.Dir, ledgerName), maxLedger)
	if err == nil {
		err = json.Unmarshal(data, &d.ledger)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what the tracker was told: %w", err)
	}
	return d, nil
}

// maxLedger bounds that file, in bytes.
const maxLedger = 4 << 20

func (d *issueDesk) save() error {
	data, err := json.Marshal(d.ledger)
	if err == nil {
		err = atomicfile.Write(filepath.Join(d.loop.Dir, ledgerName), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep what the tracker was told: %w", err)
	}
	return nil
}

// claimIssues claims the issues with open tasks, before anything is spent. It releases
// them if one cannot be had.
func (d *Driver) claimIssues(ctx context.Context, s loop.State, env environment.Environment) error {
	if d.Spec.Tracker == nil {
		return nil
	}
	kept, err := d.Loop.Spec()
	if err != nil {
		return err
	}
	desk, err := openIssues(d.Loop, d.Spec, kept.Root, env)
	if err != nil {
		return err
	}
	tasks := d.Spec.Tasks
	if d.wasSetUp {
		tasks = s.Tasks
	}
	for _, i := range d.Spec.Tracker.Issues {
		if slices.Contains(desk.ledger.Claimed, i.ID) || !slices.ContainsFunc(of(tasks, i), func(t loop.Task) bool { return t.Status != loop.Done }) {
			continue
		}
		if err := desk.claim(ctx, i); err != nil {
			return errors.Join(failure.New(failure.CodeOf(err), failure.Hint(err), "claim issue %s: %w", i.Key, err), desk.releaseAll(ctx))
		}
	}
	return nil
}

// of are the tasks of an issue.
func of(tasks []loop.Task, i record.Issue) []loop.Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t loop.Task) bool { return !slices.Contains(i.Tasks, t.ID) })
}

// claim claims an issue. It is noted first: a claim that nobody knows of would stay.
func (d *issueDesk) claim(ctx context.Context, i record.Issue) error {
	d.ledger.Claimed = append(d.ledger.Claimed, i.ID)
	if err := d.save(); err != nil {
		return err
	}
	answer, err := d.ask(ctx, tracker.Request{Do: tracker.Claim, Issue: i.ID})
	if err != nil || !answer.Changed {
		d.ledger.Claimed = slices.DeleteFunc(d.ledger.Claimed, func(id string) bool { return id == i.ID })
		err = errors.Join(err, d.save())
	}
	return err
}

// releaseAll takes all claims back, without a word.
func (d *issueDesk) releaseAll(ctx context.Context) error {
	var failed error
	for _, id := range slices.Clone(d.ledger.Claimed) {
		failed = errors.Join(failed, d.tell(ctx, tracker.Request{Do: tracker.Blocked, Issue: id}))
	}
	return failed
}

// retryPauses are the pauses before a request is made again that may succeed later.
func retryPauses() []time.Duration { return []time.Duration{time.Second, 4 * time.Second} }

// ask makes a request, and again where that may help.
func (d *issueDesk) ask(ctx context.Context, r tracker.Request) (tracker.Reply, error) {
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

// tell makes a request about an issue's end once.
func (d *issueDesk) tell(ctx context.Context, r tracker.Request) error {
	r.Release = slices.Contains(d.ledger.Claimed, r.Issue)
	sum := sha256.Sum256([]byte(string(r.Do) + "\x00" + r.Issue + "\x00" + r.Text))
	r.Key = fmt.Sprintf("%s %x", d.loop.ID, sum[:6])
	if slices.Contains(d.ledger.Told, r.Key) && !r.Release || r.Text == "" && !r.Release {
		return nil
	}
	if _, err := d.ask(ctx, r); err != nil {
		return err
	}
	d.ledger.Claimed = slices.DeleteFunc(d.ledger.Claimed, func(id string) bool { return id == r.Issue })
	if r.Text != "" && !slices.Contains(d.ledger.Told, r.Key) {
		d.ledger.Told = append(d.ledger.Told, r.Key)
	}
	return d.save()
}

// TellIssues tells the issues of a loop that has ended what came of them, as far as that
// was not done. Only who owns the loop may call it. A loop without issues tells nothing.
func TellIssues(ctx context.Context, l *store.Loop, env environment.Environment) error {
	kept, err := l.Spec()
	if err != nil {
		return err
	}
	spec, err := record.DecodeSpec(kept)
	if err != nil || spec.Tracker == nil {
		return err
	}
	m, _, err := record.Load(l)
	if err != nil || m.State.Phase != loop.Ended {
		return err
	}
	d, err := openIssues(l, spec, kept.Root, env)
	if err != nil {
		return err
	}
	var failed error
	for _, i := range spec.Tracker.Issues {
		tasks := of(m.State.Tasks, i)
		if !slices.ContainsFunc(tasks, func(t loop.Task) bool { return !t.Earlier }) {
			continue // it was done before
		}
		if err := d.tell(ctx, d.ending(i, tasks, m)); err != nil {
			failed = errors.Join(failed, failure.New(failure.CodeOf(err), failure.Hint(err), "tell issue %s: %w", i.Key, err))
		}
	}
	return failed
}

// ending is what an issue is told.
func (d *issueDesk) ending(i record.Issue, tasks []loop.Task, m record.Memory) tracker.Request {
	r := tracker.Request{Do: tracker.Blocked, Issue: i.ID}
	proven := !slices.ContainsFunc(tasks, func(t loop.Task) bool { return t.Status != loop.Done || t.Unproven() })
	switch {
	case proven && m.State.Outcome != loop.Tampered:
		r.Do = tracker.Done
		r.Text = d.text(fmt.Sprintf("**Done and verified** by Pawl (loop `%s`).", d.loop.ID), tasks, m)
	case m.State.Outcome == loop.CancelledEnd: // by its user, who may resume it
	default:
		why := "**Not done.** Pawl's loop `" + d.loop.ID + "` ended " + string(m.State.Outcome)
		if m.State.Reason != "" {
			why += ": " + code(m.State.Reason)
		}
		r.Text = d.text(why, tasks, m)
	}
	return r
}

// text is a comment: what was shown for each task, and where the work is. Everything that
// was not written by Pawl stands as code, so that it mentions nobody and closes nothing.
func (d *issueDesk) text(first string, tasks []loop.Task, m record.Memory) string {
	var b strings.Builder
	b.WriteString(first + "\n\n")
	commits := false
	for _, t := range tasks {
		fmt.Fprintf(&b, "- %s: %s", code(t.ID+" "+t.Title), taskEnd(t))
		if t.Commit != "" {
			commits = true
			b.WriteString(", commit " + t.Commit[:min(12, len(t.Commit))])
		}
		b.WriteString("\n")
	}
	if commits {
		fmt.Fprintf(&b, "\nThe commits are on the branch %s.", code(cmp.Or(d.spec.Branch, "pawl/"+d.loop.ID)))
	}
	if url := m.PullRequest.URL; url != "" {
		b.WriteString(" Pull request: " + url)
	}
	return d.clean(strings.TrimSpace(b.String()))
}

// taskEnd says how a task ended.
func taskEnd(t loop.Task) string {
	switch {
	case t.Status == loop.Done && t.Earlier:
		return "done before"
	case t.Status == loop.Done && len(t.Flipped) > 0:
		return fmt.Sprintf("%s, %s failed before and passes now", t.Evidence, code(strings.Join(t.Flipped[:min(3, len(t.Flipped))], ", ")))
	case t.Status == loop.Done:
		return strings.TrimSuffix(fmt.Sprintf("%s, %s", t.Evidence, code(t.Why)), ", ")
	case t.Why != "":
		return fmt.Sprintf("%s, %s", t.Status, code(t.Why))
	}
	return string(t.Status)
}

// code is a text as code in Markdown; "" for none.
func code(text string) string {
	if text = strings.ReplaceAll(plan.OneLine(text, 200), "`", "'"); text == "" {
		return ""
	}
	return "`" + text + "`"
}
