package workplan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/planfile"
)

// An edit of the plan during a command of the agent or a gate may be the user's or the agent's. New
// tasks are accepted from both, since they only add work. Any other such edit is not applied,
// but saved in a file of the loop, and is no violation. An edit by an editing tool is the
// agent's. An edit that no tool call can have made, also by its time, or that was made while the
// loop was paused, is the user's. In a user's session an edit that is not applied also stays in the
// plan.

// Inspection is the result of comparing the plan with the frozen copy.
type Inspection struct {
	TickedByAgent []string // tasks that the agent ticked: a claim
	TickedByUser  []string // tasks that the user ticked
	Changed       bool     // more than checkboxes differ; AdoptUserEdit or Restore is next
	UnappliedEdit string   // file with an edit that was not applied
}

// Inspect compares the plan with the frozen copy. Checkboxes that the agent may have ticked are
// reset; the user's stay.
func (p *Plan) Inspect(ctx context.Context, m memory.ActionContext) (Inspection, error) {
	if p.Spec.Plan == "" {
		return Inspection{}, nil
	}
	now, err := p.load()
	if err != nil {
		return p.inspectUnreadable(ctx, m)
	}
	if bytes.Equal(now.Bytes(), p.frozen.Bytes()) {
		return Inspection{}, nil
	}
	if !bytes.Equal(now.Text(), p.frozen.Text()) {
		return p.inspectEdit(ctx, now, m)
	}
	ticked := now.Plan().TickedSince(p.frozen.Plan())
	if p.mayBeByAgent(m) {
		return Inspection{TickedByAgent: ticked}, p.Restore()
	}
	return Inspection{TickedByUser: ticked}, p.save(now)
}

// inspectEdit handles a plan whose text differs from the frozen copy.
func (p *Plan) inspectEdit(ctx context.Context, now *planfile.File, m memory.ActionContext) (Inspection, error) {
	if p.Authors.Wrote(p.Path()) {
		return Inspection{Changed: true}, nil
	}
	maybeAgent := p.mayBeByAgent(m)
	switch {
	case p.InSession && p.isUnappliedEdit(now):
		return Inspection{UnappliedEdit: p.unappliedEditPath(now.Text())}, nil // it was noted before
	case p.InSession && !maybeAgent:
	case now.Plan().OnlyAddsTasks(p.frozen.Plan()):
		return p.adoptAddedTasks(now, maybeAgent)
	case maybeAgent || now.Plan().IsRenumbered(p.frozen.Plan()):
		aside, err := p.saveUnappliedEdit(ctx, now.Text(), now.Bytes(), maybeAgent)
		if err != nil || p.InSession {
			return Inspection{UnappliedEdit: aside}, err
		}
		return Inspection{UnappliedEdit: aside}, p.Restore()
	}
	return Inspection{Changed: true}, nil
}

// unappliedEditPath returns the file for an edit of the plan that is not applied.
func (p *Plan) unappliedEditPath(text []byte) string {
	sum := sha256.Sum256(text)
	return filepath.Join(p.Loop.Dir, "plan.edited-"+hex.EncodeToString(sum[:4])+filepath.Ext(p.Spec.Plan))
}

// isUnappliedEdit reports whether an edit is saved already, whatever its checkboxes.
func (p *Plan) isUnappliedEdit(now *planfile.File) bool {
	_, err := os.Stat(p.unappliedEditPath(now.Text()))
	return err == nil
}

// adoptAddedTasks adopts a plan with more tasks. Checkboxes that were ticked during a command
// do not count.
func (p *Plan) adoptAddedTasks(now *planfile.File, maybeAgent bool) (Inspection, error) {
	ticked := now.Plan().TickedSince(p.frozen.Plan())
	if !maybeAgent {
		return Inspection{TickedByUser: ticked}, p.saveUserEdit(now)
	}
	f, err := untick(now, ticked)
	if err != nil {
		return Inspection{}, err
	}
	if err := p.save(f); err != nil || len(ticked) == 0 {
		return Inspection{}, err
	}
	return Inspection{}, p.Restore()
}

// inspectUnreadable handles a plan that cannot be parsed any more.
func (p *Plan) inspectUnreadable(ctx context.Context, m memory.ActionContext) (Inspection, error) {
	if p.InSession || p.Authors.Wrote(p.Path()) {
		return Inspection{Changed: true}, nil
	}
	if _, err := os.Lstat(p.Path()); errors.Is(err, fs.ErrNotExist) {
		return p.inspectMissing(ctx)
	}
	data, err := planfile.Read(p.Path())
	if err = errors.Join(err, p.checkLinks()); err != nil { // it is not a regular file, or a link
		return Inspection{Changed: true}, nil //nolint:nilerr // an unreadable plan is a changed plan
	}
	aside, err := p.saveUnappliedEdit(ctx, data, data, p.mayBeByAgent(m))
	if err != nil {
		return Inspection{}, err
	}
	return Inspection{UnappliedEdit: aside}, p.Restore()
}

// inspectMissing restores a plan that was removed or renamed, by whomever: the loop works
// through it. It is a violation only if a call named the plan.
func (p *Plan) inspectMissing(ctx context.Context) (Inspection, error) {
	if p.Authors.Named(p.Path()) {
		return Inspection{Changed: true}, nil
	}
	p.Note(ctx, loop.Warning, p.Spec.Plan+" was removed or renamed; restored, because the loop uses it. To continue with another file: pawl stop, then pawl run FILE")
	return Inspection{}, p.Restore()
}

// saveUnappliedEdit saves a version of the plan that is not applied, and notes the file.
func (p *Plan) saveUnappliedEdit(ctx context.Context, text, data []byte, maybeAgent bool) (string, error) {
	path := p.unappliedEditPath(text)
	// Of an edit that is saved already the first plan counts, so that later changes are not lost.
	if _, err := os.Stat(planfile.BeforePath(path)); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.Write(planfile.BeforePath(path), p.frozen.Bytes(), 0o600); err != nil {
			return "", fmt.Errorf("keep the plan before the edit: %w", err)
		}
	}
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return "", fmt.Errorf("keep the edited plan: %w", err)
	}
	how := "while an agent's command ran, so the author is unknown"
	if !maybeAgent {
		how = "so that Pawl cannot follow it (task numbers changed, or it is no longer a plan)"
	}
	p.Note(ctx, loop.Warning, fmt.Sprintf("%s was edited %s: not applied, and kept in %s; pawl plan accept %s applies it", p.Spec.Plan, how, path, p.Loop.ID))
	return path, nil
}

// AdoptUserEdit freezes the plan as the user changed it. New tasks become tasks of the loop.
func (p *Plan) AdoptUserEdit(ctx context.Context) error {
	f, err := p.load()
	if err != nil {
		p.Note(ctx, loop.Warning, "the plan was changed and is unreadable; restored its last good version: "+err.Error())
		return p.Restore()
	}
	return p.saveUserEdit(f)
}

// AdoptIdleEdit adopts the plan as the user edited it while the agent did not run: the loop was
// paused, or had ended. It returns a note for the user, without text if nothing was edited. A plan
// that the user removed is restored, since it has the open tasks. ticked are tasks that the user
// ticked; those that the agent may have ticked wait for the next inspection.
func (p *Plan) AdoptIdleEdit(mem memory.Memory, while string) (n memory.Note, ticked []string, err error) {
	phase := mem.State.Phase
	if p.Spec.Plan == "" || p.InSession && phase != loop.Paused {
		return n, nil, nil
	}
	m := mem.ActionContext()
	if err := p.Authors.ReadNewCalls(m); err != nil {
		return n, nil, err
	}
	mayBeAgents := p.mayBeByAgent(m)
	if p.InSession && mayBeAgents { // in a session the agent may work during a pause
		return n, nil, nil
	}
	if _, err := os.Stat(p.Path()); errors.Is(err, fs.ErrNotExist) && phase == loop.Ended {
		return memory.Note{Level: loop.Warning, Text: p.Spec.Plan + " was removed " + while + ": restored"}, nil, p.Restore()
	}
	now, err := p.load()
	if err != nil || bytes.Equal(now.Bytes(), p.frozen.Bytes()) || now.Plan().IsRenumbered(p.frozen.Plan()) {
		return n, nil, nil //nolint:nilerr // the next inspection reports it
	}
	ticked = now.Plan().TickedSince(p.frozen.Plan())
	if mayBeAgents {
		if now, err = p.withoutTicks(now); err != nil {
			return n, nil, err
		}
		ticked = nil
	}
	text := p.Spec.Plan + " was edited " + while + ": applied"
	if len(ticked) > 0 {
		text += ", also ticked: " + plan.Few(ticked, 4)
	}
	if !bytes.Equal(now.Text(), p.frozen.Text()) {
		return memory.Note{Level: loop.Info, Text: text}, ticked, p.saveUserEdit(now)
	}
	if len(ticked) > 0 {
		n = memory.Note{Level: loop.Info, Text: p.Spec.Plan + ": ticked " + while + ": " + plan.Few(ticked, 4)}
	}
	return n, ticked, p.save(now)
}

// AdoptRestored freezes the plan as it is after the user restored a checkpoint, with these tasks
// open again.
func (p *Plan) AdoptRestored(undone []string) error {
	if p.Spec.Plan == "" {
		return nil
	}
	f, err := p.load()
	if err != nil {
		f = p.frozen
	}
	if f, err = untick(f, undone); err != nil {
		return err
	}
	changedMarks := !bytes.Equal(f.Bytes(), p.frozen.Bytes())
	if err := p.save(f); err != nil || !changedMarks {
		return err
	}
	return p.Restore()
}
