package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// replyForState answers a stop according to the loop's state, and releases the lease.
func (h *handler) replyForState(ctx context.Context, b session.Binding, s *lease) (reply, error) {
	if err := s.release(); err != nil {
		return reply{}, err
	}
	st := s.mem.State
	switch {
	case st.Phase == loop.Ended:
		return h.replyEnded(ctx, b, s)
	case st.Phase == loop.Paused && !st.Pause:
		why := ""
		if held := st.Trouble.HoldReason; held != "" {
			why = ": " + plan.OneLine(held, 300)
		}
		return h.letSessionEnd(ctx, b, b.Loop+" is paused"+why+". Send any message: it continues after that turn")
	case st.Phase == loop.Paused:
		return h.letSessionEnd(ctx, b, fmt.Sprintf("%s is paused; pawl resume %[1]s continues it", b.Loop))
	case st.Phase == loop.Waiting:
		return h.letSessionEnd(ctx, b, b.Loop+": "+waitText(st))
	case st.Phase == loop.Turning && promptReady(s):
		return h.giveTurn(ctx, b, s)
	}
	if why := s.loop.LastError(store.DriverLog, h.now); why != "" {
		return h.letSessionEnd(ctx, b, fmt.Sprintf("%s cannot continue: %s. Pawl tries again when your next turn ends", b.Loop, plan.OneLine(why, 300)))
	}
	return h.letSessionEnd(ctx, b, fmt.Sprintf("%s is not ready for its next turn (%s); pawl status %[1]s shows more", b.Loop, st.Phase))
}

// waitText returns what a waiting loop waits for.
func waitText(st loop.State) string {
	if q, asked := st.AwaitedAnswer(); asked {
		return strings.Join(append([]string{q.Headline()}, q.Lines()...), "\n  ") + "\n" + answerHint(q)
	}
	a, ok := loop.FindAction[loop.Wait](st.Pending)
	if !ok {
		return "waiting"
	}
	return fmt.Sprintf("waiting until %s (%s); then it continues, or earlier if you send a message", a.Until.Local().Format(time.TimeOnly), a.Why)
}

// answerHint says how the user answers a question.
func answerHint(q loop.Question) string {
	if q.Approve != "" {
		return "Type  ! pawl approve .  or  ! pawl reject . --why \"…\""
	}
	return "Answer here, or in a terminal: pawl answer"
}

// usesContinuePrompt reports whether the next turn gets the prompt that was written in
// advance: the agent claimed nothing, and is only told to continue.
func usesContinuePrompt(s *lease) bool {
	a, ok := loop.FindAction[loop.BeginTurn](s.mem.State.Pending)
	return ok && a.Situation == loop.NoClaim && !a.Fresh && !s.spec.MayLackGoal(s.mem.State.Turns) && len(a.Notes) == 0 && s.mem.State.Failing == s.failingBefore &&
		(!s.userTurn || s.failingBefore == nil) && // after a turn of the user's the agent is told again what failed
		(s.failingBefore == nil || !s.failingBefore.NoWork) // it is told why its turn counts as failed
}

// promptReady reports whether the prompt of the next turn has been written.
func promptReady(s *lease) bool {
	_, err := os.Stat(promptPath(s))
	return err == nil
}

// promptPath returns the file of that prompt: the turn's own, or the one written in
// advance.
func promptPath(s *lease) string {
	own := record.PromptPath(s.loop, s.mem)
	if usesContinuePrompt(s) && !fileExists(own) {
		return record.ContinuePromptPath(s.loop)
	}
	return own
}

// promptText returns the prompt for the agent. line, if any, is put on top; the user sees
// it too.
func promptText(s *lease, heading, footer string) (string, error) {
	data, err := os.ReadFile(promptPath(s))
	if err != nil {
		return "", fmt.Errorf("read the prompt: %w", err)
	}
	isContinue, text := promptPath(s) == record.ContinuePromptPath(s.loop), ""
	switch {
	case heading != "":
		text = heading + "\n\n"
	case isContinue:
		text = fmt.Sprintf("[Pawl] Iteration %s of loop %s.\n\n", iterationText(s.mem.State, " of "), s.loop.ID)
	}
	if isContinue {
		if t := s.mem.State.Ladder.LastTestRun; t.Red() {
			text += fmt.Sprintf("Your last test run in that turn, %s\n\n", t)
		}
	}
	return strings.TrimSpace(text+string(data)) + "\n" + footer, nil
}

// giveTurn answers the stop with the next turn's prompt, unless the client would not
// accept it.
func (h *handler) giveTurn(ctx context.Context, b session.Binding, s *lease) (reply, error) {
	if s.mem.TurnsBegun <= b.GivenTurns && !h.alreadyReceived(s) {
		return h.letSessionEnd(ctx, b, "") // the session was given this turn before
	}
	if h.hasUnreadPrompt(b, s) {
		return h.yieldToUser(ctx, b)
	}
	blocks := consecutiveStops(b, s)
	limit := h.stopCap()
	if limit > 0 && blocks >= limit {
		return h.replyStopCap(ctx, b, limit)
	}
	footer := ""
	if limit > 0 && blocks+capWarningStops >= limit {
		footer = fmt.Sprintf("\nCall a tool before you end this turn, for example pawl status: your client ends a turn that was continued %d times without a tool call.\n", limit)
	}
	heading, shown := "", progressLine(s)+handoverOffer(s)
	if !h.Env.Session.Unattended { // a terminal shows everything the agent receives, so the line is not shown twice
		heading, shown = progressLine(s), strings.TrimPrefix(handoverOffer(s), " · ")
	}
	text, err := promptText(s, heading, footer)
	if err != nil {
		return reply{}, err
	}
	_, err = h.bindings.Change(ctx, b.Session, func(b *session.Binding) bool {
		h.recordAnswer(b, false)
		b.GivenTurns, b.ConsecutiveBlocks = s.mem.TurnsBegun, blocks+1
		return true
	})
	h.updateFiles(ctx, b, s)
	return reply{Continue: text, Message: shown}, err
}

// hasUnreadPrompt reports whether the user typed during the turn and the agent has not
// received it. The client delivers it with the next tool result, or once no hook
// continues the turn.
func (h *handler) hasUnreadPrompt(b session.Binding, s *lease) bool {
	now, err := h.bindings.Find(b.Session) // they may have typed while gates ran
	return err == nil && !b.Unattended && now.TypedAtSize > toolCallLogSize(s.loop)
}

// yieldToUser lets the session end so that the user's prompt begins a turn. No hook
// announces that turn; the loop continues when it ends.
func (h *handler) yieldToUser(ctx context.Context, b session.Binding) (reply, error) {
	_, err := h.bindings.Change(ctx, b.Session, func(b *session.Binding) bool {
		h.recordAnswer(b, true)
		b.Busy, b.ConsecutiveBlocks = true, 0
		return true
	})
	return reply{Message: b.Loop + ": your message comes first; the loop continues after that turn"}, err
}

const (
	defaultStopCap  = 8 // of the client, unless set otherwise
	capWarningStops = 3 // this many stops before the cap the agent is asked for a tool call
)

// stopCap returns how many consecutive stops the client lets a hook block without a tool
// call between them; 0 means no limit.
func (h *handler) stopCap() int {
	n, err := strconv.Atoi(h.Env.Session.Cap)
	if err != nil || n < 0 {
		return defaultStopCap
	}
	return n
}

// replyStopCap lets the session end with a message where the client would end it anyway,
// with an empty result that looks like completion.
func (h *handler) replyStopCap(ctx context.Context, b session.Binding, limit int) (reply, error) {
	text := fmt.Sprintf("%s is NOT done: the client ends a turn after %d stops without a tool call. Send any message to continue, or pawl handover %[1]s to continue in fresh sessions. To lift the limit: pawl install claude --scope local --only-cap --yes", b.Loop, limit)
	err := h.withLease(ctx, b, func(s *lease) error {
		s.note(loop.Info, text)
		s.recordBinding(b, memory.BoundSession{Capped: true})
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	_, err = h.bindings.Change(ctx, b.Session, func(b *session.Binding) bool {
		h.recordAnswer(b, false)
		b.ConsecutiveBlocks, b.Capped = 0, true
		return true
	})
	return reply{Message: text}, err
}

// letSessionEnd allows the stop while the loop continues. The waker continues it.
func (h *handler) letSessionEnd(ctx context.Context, b session.Binding, text string) (reply, error) {
	_, err := h.bindings.Change(ctx, b.Session, func(b *session.Binding) bool {
		h.recordAnswer(b, true)
		b.ConsecutiveBlocks = 0
		return true
	})
	if errors.Is(err, session.ErrNone) {
		err = nil
	}
	return reply{Message: text}, err
}

// recordAnswer stores which stop was answered, for the waker that started with it.
func (h *handler) recordAnswer(b *session.Binding, waiting bool) {
	b.LastStop, b.LastStopAt, b.WaitingForTurn, b.Busy = h.event.StopID(), h.now, waiting, false
	b.TypedAtSize, b.Capped = 0, false
	if b.LoopPrompt == "" {
		b.LoopPrompt = h.event.PromptID
	}
	b.ToolsSize = toolCallLogSize(store.Open(h.Env.PawlHome).Loop(b.Loop))
}

// replyEnded unbinds the ended loop from the session and reports its end.
func (h *handler) replyEnded(ctx context.Context, b session.Binding, s *lease) (reply, error) {
	released, err := h.bindings.Release(ctx, b.Session, b.Loop)
	if !released {
		return reply{}, err // another hook has reported it
	}
	return reply{Message: endMessage(s)}, s.files.MarkEnded(s.mem, b.Session)
}

// endMessage says how the loop ended, after the words that users' scripts look for.
func endMessage(s *lease) string {
	return strings.TrimSpace(s.files.EndLine(s.mem.State) + "\n" + endSummary(s))
}

// endSummary says in one line how the loop ended.
func endSummary(s *lease) string {
	st := s.mem.State
	text := st.Headline(s.loop.ID) + " after " + figure.Count(st.Iteration, "iteration")
	if why := cmp.Or(st.Reason, lastEvidence(st)); why != "" {
		text += " · " + plan.OneLine(why, 300)
	}
	if st.Hint != "" {
		text += " · " + plan.OneLine(st.Hint, 200)
	}
	if approve := st.ApproveCommand(s.loop.ID); approve != "" {
		text += " · " + approve + " accepts the test changes"
	}
	if st.Isolated != nil {
		text += " · the last isolated try: " + verifyactive.Stats(*st.Isolated)
	}
	text += " · pawl report " + s.loop.ID
	switch st.Outcome {
	case loop.Verified, loop.Finished, loop.Unverified, loop.CancelledEnd:
		return text
	}
	if st.InSession {
		text += " · ! " + st.ContinueCommand("resume", s.loop.ID) + " continues here"
	}
	return text + " · " + st.ContinueCommand("handover", s.loop.ID) + " continues in fresh sessions"
}

// lastEvidence returns the evidence for the last task that is done.
func lastEvidence(st loop.State) string {
	for _, t := range slices.Backward(st.Tasks) {
		if t.Status == loop.Done && t.Why != "" {
			return t.Why
		}
	}
	return ""
}

// iterationText formats the iteration and the limit, if there is one: "3 of 25", "3/25".
func iterationText(st loop.State, of string) string {
	if n := st.Policy.Limits.Iterations; n > 0 {
		return fmt.Sprintf("%d%s%d", st.Iteration, of, n)
	}
	return strconv.Itoa(st.Iteration)
}

// progressLine says in one line why the session continues.
func progressLine(s *lease) string {
	st := s.mem.State
	if line := s.files.ProgressLine(st); line != "" {
		return line
	}
	return fmt.Sprintf("⟲ %s %s · %s", s.loop.ID, iterationText(st, "/"), continueReason(s))
}

// continueReason says why the loop continues.
func continueReason(s *lease) string {
	st := s.mem.State
	if s.userTurn {
		return fmt.Sprintf("that turn was not counted; the loop continues (pawl stop %s ends it)", s.loop.ID)
	}
	reason := ""
	if st.Failing != nil {
		reason = plan.OneLine(st.Failing.Reason, 160)
	}
	a, _ := loop.FindAction[loop.BeginTurn](st.Pending)
	switch a.Situation {
	case loop.GatesFailed:
		return "not done: " + reason + " · continuing"
	case loop.ClaimRefused:
		return "claim refused: " + reason + " · continuing"
	case loop.Violation:
		return reason
	case loop.NextTask, loop.FirstTurn:
		return "next: " + a.Task
	case loop.Interruption:
		return "continuing after an interruption"
	}
	if st.Failing != nil && st.Failing.NoWork {
		return reason + " · continuing"
	}
	return "continuing"
}

// fileExists reports whether a file exists.
func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
