package mcpserver

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

const (
	endTurn     = "End your turn now: Pawl checks the work when it ends."
	notAccepted = "NOT ACCEPTED, nothing is recorded. "
	noSuchGoal  = "this goal cannot be completed: its limit ends it"
)

// completeTask handles complete_task.
func (s *Server) completeTask(ctx context.Context, in completeArgs) (string, error) {
	summary, err := checkText("summary", in.Summary, maxInputBytes)
	if err != nil {
		return "", err
	}
	if in.Evidence != "" {
		evidence, err := checkText("evidence", in.Evidence, maxInputBytes)
		if err != nil {
			return "", err
		}
		summary += "\nEvidence: " + evidence
	}
	at, err := s.requireTurn()
	if err != nil {
		return "", err
	}
	t, err := at.task(in.ID)
	if err != nil {
		return "", err
	}
	switch in.Status {
	case statusSuccess:
		return s.claim(ctx, at, t, record.Message{
			Kind: record.MessageClaim, Tasks: []string{t.ID}, Text: summary, Turn: at.Memory.TurnsBegun, NoBehaviourChange: in.NoBehaviourChange,
		})
	case statusPartial:
		err := at.post(record.Message{Kind: record.MessagePartial, Tasks: []string{t.ID}, Text: summary, Turn: at.Memory.TurnsBegun})
		return "Recorded: later tries see what is done and what is not. The task stays open; continue it, or end your turn.", err
	case statusBlocked:
		return s.block(at, t, summary)
	}
	return "", failure.New(failure.Usage, "choose success, partial or blocked", "there is no status %q", in.Status)
}

// reportBlocked handles report_blocked.
func (s *Server) reportBlocked(_ context.Context, in blockedArgs) (string, error) {
	at, reason, err := s.requireTurnAndText("reason", in.Reason, maxInputBytes)
	if err != nil {
		return "", err
	}
	t, err := at.task(in.ID)
	if err != nil {
		return "", err
	}
	return s.block(at, t, reason)
}

func (s *Server) block(at *boundLoop, t loop.Task, reason string) (string, error) {
	if now := at.Memory.State.Current; t.ID != now {
		return "", failure.New(failure.Usage, "report it when that task is current", "the current task is %s, and only that one can be skipped", now)
	}
	m := record.Message{Kind: record.MessageBlocked, Tasks: []string{t.ID}, Text: reason, Turn: at.Memory.TurnsBegun}
	return "Recorded with your reason. " + endTurn, at.post(m)
}

// claim runs the gates, and records the claim if they have no failures that are new since the task
// started. The claim is only a request: Pawl runs the gates again when the turn ends.
func (s *Server) claim(ctx context.Context, at *boundLoop, t loop.Task, m record.Message) (string, error) {
	if k := at.Spec.Policy.Kind; k == loop.Explore || k == loop.Periodic {
		return "", failure.New(failure.Usage, "end your turn when you have nothing more to do", noSuchGoal)
	}
	strays, err := launch.OutOfScope(ctx, at.Loop.Loop, s.Env, at.Memory, []string{t.ID})
	if err != nil {
		return "", err
	}
	switch {
	case len(strays.ByAgent) > 0:
		return notAccepted + strays.Advice(), nil
	case len(gate.Commands(at.Spec.Gates)) > 0:
	case at.Spec.Policy.Reviews:
		return "Recorded." + at.reviewNote() + " " + endTurn, at.post(m)
	default:
		return "Recorded. There is no gate, so nobody checks it: what you say is what the user will rely on. " + endTurn, at.post(m)
	}
	j, err := s.runGates(ctx, at, []string{t.ID})
	if err != nil {
		return "", err
	}
	switch j.Verdict.Status {
	case gate.Pass:
	case gate.Fail:
		return notAccepted + "Something that passed when the task started fails now.\n\n" + j.details(), nil
	case gate.Unknown:
		return notAccepted + "The gates gave no clear result: fix that first, or report it as blocked.\n\n" + j.details(), nil
	}
	if now, err := s.requireTurn(); err != nil || now.Memory.TurnsBegun != m.Turn {
		return "", failure.New(failure.Usage, "call again in the current turn", "the turn of this call is over")
	}
	return fmt.Sprintf("Recorded: %s is done, as you claim, and the gates passed just now. Pawl runs them again itself.%s%s %s", t.ID, at.reviewNote(), j.refusalRisks(t, m), endTurn), at.post(m)
}
