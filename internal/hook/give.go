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
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// standing answers a stop by where the loop stands, and lets go of it.
func (h *hook) standing(ctx context.Context, b session.Binding, s *seat) (reply, error) {
	if err := s.rise(); err != nil {
		return reply{}, err
	}
	st := s.mem.State
	switch {
	case st.Phase == loop.Ended:
		return h.over(ctx, b, s)
	case st.Phase == loop.Paused && !st.Pause:
		return h.leave(ctx, b, b.Loop+" goes on after the session's next turn: say anything")
	case st.Phase == loop.Paused:
		return h.leave(ctx, b, fmt.Sprintf("%s is paused; pawl resume %[1]s goes on with it", b.Loop))
	case st.Phase == loop.Waiting:
		return h.leave(ctx, b, b.Loop+": "+waits(st))
	case st.Phase == loop.Turning && written(s):
		return h.give(ctx, b, s)
	}
	return h.leave(ctx, b, fmt.Sprintf("%s is not ready for its next turn (%s); pawl status %[1]s tells more", b.Loop, st.Phase))
}

// waits says what a waiting loop waits for.
func waits(st loop.State) string {
	a, ok := st.Asked(loop.Wait)
	if !ok {
		return "waiting"
	}
	return fmt.Sprintf("waiting until %s (%s); it goes on by itself, or when you say so", a.Until.Local().Format(time.TimeOnly), a.Text)
}

// plain turns are told what was written ahead: the agent said nothing, and
// nothing is to be said to it but to go on.
func plain(s *seat) bool {
	a, ok := s.mem.State.Asked(loop.BeginTurn)
	return ok && a.Situation == loop.GoOn && !a.Fresh && !s.spec.Untold(s.mem.State) && len(a.Notes) == 0 && s.mem.State.Failing == s.failing &&
		(!s.byPerson || s.failing == nil) // who had a word between is told once more what failed
}

// written tells whether the text of the turn that is due is there.
func written(s *seat) bool {
	_, err := os.Stat(textPath(s))
	return err == nil
}

// textPath is the file of that text: the turn's own, or the one written ahead.
func textPath(s *seat) string {
	own := record.PromptPath(s.loop, s.mem)
	if plain(s) && !exists(own) {
		return record.ContinuePath(s.loop)
	}
	return own
}

// turnText is what the agent is told, below a line that the user reads too, if any.
func turnText(s *seat, line, more string) (string, error) {
	data, err := os.ReadFile(textPath(s))
	if err != nil {
		return "", fmt.Errorf("read the prompt: %w", err)
	}
	ahead, head := textPath(s) == record.ContinuePath(s.loop), ""
	switch {
	case line != "":
		head = line + "\n\n"
	case ahead:
		head = fmt.Sprintf("[Pawl] Iteration %s of loop %s.\n\n", ofHow(s.mem.State), s.loop.ID)
	}
	if ahead {
		if t := s.mem.State.Ladder.Tested; t.Red() {
			head += fmt.Sprintf("Your last test run in that turn, %s\n\n", t)
		}
	}
	return strings.TrimSpace(head+string(data)) + "\n" + more, nil
}

// give hands the session the turn that is due, unless the client would not let
// the session go on.
func (h *hook) give(ctx context.Context, b session.Binding, s *seat) (reply, error) {
	if s.mem.Begun <= b.Given && !h.heard(s) {
		return h.leave(ctx, b, "") // this turn it was given before: no turn is given twice
	}
	if h.unheard(b, s) {
		return h.yield(ctx, b)
	}
	blocks := blocksInRow(b, s)
	limit := h.blockCap()
	if limit > 0 && blocks >= limit {
		return h.capped(ctx, b, limit)
	}
	more := ""
	if limit > 0 && blocks+toolsWanted >= limit {
		more = fmt.Sprintf("\nUse a tool before you end this turn, if only to look at the work (pawl status): your client ends a turn that was continued %d times without a tool call.\n", limit)
	}
	told, shown := "", h.line(b, s)+offer(s)
	if !h.Env.Session.Unattended { // a terminal shows all that the agent is told: the line stands there, and once
		told, shown = h.line(b, s), strings.TrimPrefix(offer(s), " · ")
	}
	text, err := turnText(s, told, more)
	if err != nil {
		return reply{}, err
	}
	_, err = h.sessions.Change(ctx, b.Session, func(b *session.Binding) bool {
		h.answered(b, false)
		b.Given, b.Blocks = s.mem.Begun, blocks+1
		return true
	})
	h.filesGoOn(ctx, b, s)
	return reply{Go: text, Message: shown}, err
}

// unheard tells whether the person typed in mid-turn what the agent does not have
// yet: the client gives it to the agent with the result of a tool, or else when
// no hook continues the turn any more.
func (h *hook) unheard(b session.Binding, s *seat) bool {
	now, err := h.sessions.Find(b.Session) // they may have typed while gates ran
	return err == nil && !b.Unattended && now.Typed > toolsLength(s.loop)
}

// yield lets the session end for the person's words, which begin a turn of their
// own then. No hook tells of its beginning; the loop goes on at its end.
func (h *hook) yield(ctx context.Context, b session.Binding) (reply, error) {
	_, err := h.sessions.Change(ctx, b.Session, func(b *session.Binding) bool {
		h.answered(b, true)
		b.Busy, b.Blocks = true, 0
		return true
	})
	return reply{Message: b.Loop + ": your word comes first; the loop goes on at the end of its turn"}, err
}

const (
	defaultCap  = 8 // of the client, where nothing sets another
	toolsWanted = 3 // so many stops before it the agent is asked for a tool call
)

// blockCap is how many stops in a row the client lets a hook answer with more
// work, no tool call between; 0 is no limit.
func (h *hook) blockCap() int {
	n, err := strconv.Atoi(h.Env.Session.Cap)
	if err != nil || n < 0 {
		return defaultCap
	}
	return n
}

// capped lets the session end where the client would end it anyway: then with an
// empty result, and it would look like completion.
func (h *hook) capped(ctx context.Context, b session.Binding, limit int) (reply, error) {
	text := fmt.Sprintf("%s is NOT done: the client ends a turn after %d stops without a tool call. Say anything to go on, or pawl handover %[1]s to go on in fresh sessions. To lift the limit: pawl install claude --scope local --only-cap", b.Loop, limit)
	if err := h.remark(ctx, b, text); err != nil {
		return reply{}, err
	}
	_, err := h.sessions.Change(ctx, b.Session, func(b *session.Binding) bool {
		h.answered(b, false)
		b.Blocks = 0
		return true
	})
	return reply{Message: text}, err
}

// leave lets the session end though the loop goes on; the waker sees to that.
func (h *hook) leave(ctx context.Context, b session.Binding, text string) (reply, error) {
	_, err := h.sessions.Change(ctx, b.Session, func(b *session.Binding) bool {
		h.answered(b, true)
		b.Blocks = 0
		return true
	})
	if errors.Is(err, session.ErrNone) {
		err = nil
	}
	return reply{Message: text}, err
}

// answered notes which stop this was, for the waker that was started with it.
func (h *hook) answered(b *session.Binding, left bool) {
	b.Stop, b.StopAt, b.Left, b.Busy = h.p.stopID(), h.now, left, false
	b.Typed = 0
	if b.Prompt == "" {
		b.Prompt = h.p.PromptID
	}
	b.Tools = toolsLength(store.Open(h.Env.PawlHome).Loop(b.Loop))
}

// over ends the loop's life in the session.
func (h *hook) over(ctx context.Context, b session.Binding, s *seat) (reply, error) {
	f := files(b, s)
	released, err := h.sessions.Release(ctx, b.Session, b.Loop)
	if !released {
		return reply{}, err // somebody else has told of it
	}
	return reply{Message: inFull(b, s)}, f.Ends(s.mem, b.Session)
}

// inFull is how the loop ended, with what people's scripts look for before it.
func inFull(b session.Binding, s *seat) string {
	return strings.TrimSpace(files(b, s).Ending(s.mem.State) + "\n" + ending(s))
}

// ending tells a person how the loop ended.
func ending(s *seat) string {
	st := s.mem.State
	text := st.Headline(s.loop.ID) + " after " + counted(st.Iteration, "iteration")
	if why := cmp.Or(st.Reason, doneBy(st)); why != "" {
		text += " · " + plan.OneLine(why, 300)
	}
	if st.Hint != "" {
		text += " · " + plan.OneLine(st.Hint, 200)
	}
	if st.Try != nil {
		text += " · the last isolated try: " + verifyactive.Stats(*st.Try)
	}
	return text + " · pawl report " + s.loop.ID
}

// doneBy is what told of the tasks that they are done.
func doneBy(st loop.State) string {
	for _, t := range slices.Backward(st.Tasks) {
		if t.Status == loop.Done && t.Why != "" {
			return t.Why
		}
	}
	return ""
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// ofHow is the iteration, and of how many.
func ofHow(st loop.State) string {
	if n := st.Policy.Limits.Iterations; n > 0 {
		return fmt.Sprintf("%d of %d", st.Iteration, n)
	}
	return strconv.Itoa(st.Iteration)
}

// line tells the person in a line why the session goes on.
func (h *hook) line(b session.Binding, s *seat) string {
	st := s.mem.State
	if line := files(b, s).Line(st); line != "" {
		return line
	}
	return fmt.Sprintf("⟲ %s %s · %s", s.loop.ID, slashed(st), why(s))
}

// slashed is the iteration, and of how many: 3/25.
func slashed(st loop.State) string {
	if limit := st.Policy.Limits.Iterations; limit > 0 {
		return fmt.Sprintf("%d/%d", st.Iteration, limit)
	}
	return strconv.Itoa(st.Iteration)
}

func why(s *seat) string {
	st := s.mem.State
	if s.byPerson {
		return fmt.Sprintf("that turn was not counted; the loop goes on (pawl stop %s ends it)", s.loop.ID)
	}
	reason := ""
	if st.Failing != nil {
		reason = plan.OneLine(st.Failing.Reason, 160)
	}
	a, _ := st.Asked(loop.BeginTurn)
	switch a.Situation {
	case loop.GatesFailed:
		return "not done: " + reason + " · going on"
	case loop.ClaimRefused:
		return "claim refused: " + reason + " · going on"
	case loop.Struck:
		return reason
	case loop.NextTask, loop.FirstTurn:
		return "next: " + a.Task
	case loop.Interruption:
		return "going on after an interruption"
	case loop.GoOn, loop.WasRestored, loop.FreshRecap:
	}
	return "going on"
}

// exists tells whether there is a file.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
