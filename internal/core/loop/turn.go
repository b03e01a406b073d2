package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

const (
	maxIdleTurns         = 3 // turns in a row without a tool call
	violationsUntilFresh = 2
	maxViolations        = 3
	backgroundWait       = 10 * time.Minute
	minPeriod            = time.Second
)

// beginTurn begins the next turn of the current task, unless a limit or a pause prevents it. No
// other function begins turns, so none can begin past a limit.
func (m *machine) beginTurn() {
	if m.stopped() {
		return
	}
	if m.s.TreeReplaced {
		m.restartTask()
		return
	}
	if m.startPlanEdit(ThenTurn) {
		return
	}
	if o := m.limit(); o != "" {
		m.limitReached(o)
		return
	}
	if m.s.Pause {
		m.hold(ThenTurn)
		return
	}
	if m.awaitAnswer() || m.startHandover() {
		return
	}
	if !m.s.Next.Retry || m.s.Iteration == 0 {
		m.s.Iteration++
	}
	m.s.Next.Retry, m.s.LimitsChanged = false, false
	isolated := m.isolates()
	fresh := isolated || m.needsFreshSession()
	if fresh && (m.s.Next.Situation == NoClaim || m.s.Next.Situation == GatesFailed) {
		m.s.Next.Situation = FreshRecap
	}
	m.s.Next.Fresh = false
	phase := Turning
	switch {
	case isolated:
		phase = TurningIsolated
		m.s.Isolated = &IsolatedTurn{Iteration: m.s.Iteration, From: m.s.Now}
	case fresh:
		m.s.ContextPercent = 0
	}
	m.await(phase, BeginTurn{
		Iteration: m.s.Iteration, Task: m.s.Current, Fresh: fresh, Isolated: isolated,
		Situation: m.s.Next.Situation, Notes: m.messagesForPrompt(),
	})
}

// beginTurnFor begins the next turn with the prompt of a situation.
func (m *machine) beginTurnFor(s Situation) {
	m.s.Next.Situation = s
	m.beginTurn()
}

func (m *machine) turnEnded(t Turn) {
	if t.ByUser {
		m.s.Next.Retry = true // it replaced no turn: the loop's turn is still due
		m.beginTurnFor(NoClaim)
		return
	}
	m.archiveDelivered()
	m.applyTurn(t)
}

// applyTurn continues after a turn, also one that was cut off.
func (m *machine) applyTurn(t Turn) {
	m.countTurn(t)
	m.s.Trouble = Trouble{}
	if f := m.s.Failing; f != nil && f.NoWork && t.ToolCalls > 0 {
		m.s.Failing = nil // the agent works again
	}
	if !m.claimable() && !m.s.Policy.Gates { // only the end of a turn shows success here
		m.s.Ladder = Ladder{IdleTurns: m.s.Ladder.IdleTurns}
	}
	m.s.Ladder.ToolCallsHidden, m.s.Ladder.OtherPromise = t.ToolCallsHidden, t.OtherPromise
	if t.ToolCalls == 0 {
		m.s.Ladder.IdleTurns++
	} else {
		m.s.Ladder.IdleTurns = 0
	}
	m.recordTestRun(t.Test)
	if m.stopped() {
		return
	}
	m.s.Claim = m.allowedClaim(t.Claim)
	if m.s.Claim != nil && m.s.Claim.Summary != "" {
		m.s.LastAgentLine = plan.OneLine(m.s.Claim.Summary, maxSaidBytes)
	}
	m.rememberPartial(t.Partial)
	m.questionAsked(t.Question)
	if t.Unreadable {
		m.tellAgent("Your question could not be read, so nobody saw it. Ask it again at the end of your message, on separate lines, as " +
			`<question proposed="A" choices="A|B">TEXT</question>` + " with the values in double quotes.")
	}
	if o := t.OtherPromise; o != nil {
		m.tellAgent(fmt.Sprintf("Your message ended with <promise>%s</promise>, which is no claim here. Only if the task is done, end with <promise>%s</promise>.", o.Said, o.Asked))
	}
	if m.s.Policy.Kind == Answer && m.s.Claim != nil {
		m.s.Answer = t.Text
	}
	if m.s.InSession && t.Claim == nil && m.hasNewBackground(t.Background) {
		m.wait(m.s.Now.Add(backgroundWait), ThenTurn, "background work: "+strings.Join(t.Background, ", "))
		return
	}
	m.inspect()
}

// allowedClaim returns the claim that counts. A time-boxed or periodic goal can only claim to be
// blocked.
func (m *machine) allowedClaim(c *Claim) *OpenClaim {
	if c == nil || !c.Blocked && !m.claimable() {
		return nil
	}
	return &OpenClaim{Claim: *c}
}

func (m *machine) claimable() bool {
	return m.s.Policy.Kind != Explore && m.s.Policy.Kind != Periodic
}

// countTurn adds the cost of a turn, also of a failed one.
func (m *machine) countTurn(t Turn) {
	m.s.Turns++
	m.s.LastAgentLine = lastLine(t.Text)
	m.s.Gates.TurnSince = true
	m.addUsage(t.Usage)
	if t.ContextPercent >= 0 {
		m.s.ContextPercent = t.ContextPercent
	}
	m.updateTask(m.s.Current, func(t *Task) {
		if t.Turns == 0 || t.LastTurn != m.s.Iteration {
			t.Turns, t.LastTurn = t.Turns+1, m.s.Iteration
		}
	})
}

// addUsage adds a cost to the loop and the current task.
func (m *machine) addUsage(u Usage) {
	m.s.Usage = m.s.Usage.Add(u)
	m.updateTask(m.s.Current, func(t *Task) { t.CostUSD = Usage{CostUSD: t.CostUSD}.Add(u).CostUSD })
}

// hasNewBackground reports whether there is background work that the loop has not waited for yet.
// It waits once for each.
func (m *machine) hasNewBackground(work []string) bool {
	fresh := false
	for _, w := range work {
		if !slices.Contains(m.s.Waited, w) {
			m.s.Waited = append(slices.Clip(m.s.Waited), w)
			fresh = true
		}
	}
	return fresh
}

// inspect compares the whole tree only before a gate run, since turns without a claim should be
// cheap.
func (m *machine) inspect() {
	deep := m.s.Claim != nil && !m.s.Claim.Blocked || m.s.Policy.Verify || m.s.Policy.EveryTurn || m.limit() != "" || m.atMessage()
	m.await(Inspecting, Inspect{Deep: deep})
}

func (m *machine) treeInspected(seen Inspection) {
	for _, r := range seen.Remarks {
		m.note(Info, r)
	}
	m.addTasks(seen.Added)
	m.recordUnapplied(seen.UnappliedEditFile)
	m.tickedByUser(seen.TickedByUser)
	if m.stopped() {
		return
	}
	if len(seen.TickedByAgent) > 0 && m.claimable() && (m.s.Claim == nil || !m.s.Claim.Blocked) {
		c := OpenClaim{Claim: Claim{Tasks: seen.TickedByAgent}}
		if m.s.Claim != nil {
			c.NoBehaviourChange = m.s.Claim.NoBehaviourChange
			c.Tasks = append(slices.Clone(m.claimTasks(m.s.Claim.Claim)), seen.TickedByAgent...)
		}
		m.s.Claim = &c
		if seen.Shallow {
			m.await(Inspecting, Inspect{Deep: true}) // the mark was the first sign of a claim
			return
		}
	}
	switch {
	case len(seen.Tampered) > 0:
		m.violation(seen.Tampered)
	case len(seen.RejectedTests) > 0:
		m.rejectedTestsChanged(seen.RejectedTests)
	case m.userTicked():
		m.s.Claim = nil
		m.next()
	case m.currentIsLeftOut():
		m.skip(Skipped, RemovedFromPlan)
	case m.s.Claim != nil && m.s.Claim.Blocked:
		m.skip(Blocked, m.s.Claim.Reason)
	case m.s.Claim != nil:
		m.routeClaim(seen)
	case m.messageTurnEnded(seen):
	case m.s.Policy.Verify:
		m.s.Claim = &OpenClaim{}
		m.runGates(ForClaim)
	case m.s.Policy.Kind == Periodic && m.limit() == "": // otherwise there is no next time
		m.s.Next.Situation = NoClaim
		m.s.Next.Fresh = true
		m.wait(m.s.Now.Add(max(m.s.Policy.Every, minPeriod)), ThenTurn, "until the next time")
	case m.s.Policy.Kind == Change && (m.s.Ladder.IdleTurns >= maxIdleTurns || m.s.Ladder.IdleTurns > 0 && m.s.Ladder.Attempt > sameSession):
		m.stagnant()
	case m.repeatsRedRun():
		m.failRepeatedRun()
	case m.s.Policy.EveryTurn && m.s.Policy.Gates && m.limit() == "":
		m.runGates(ForTurn)
	default:
		m.beginTurnFor(NoClaim)
	}
}

// userTicked reports whether a user ticked the current task, whatever the agent says.
func (m *machine) userTicked() bool {
	t, ok := m.s.Task(m.s.Current)
	return ok && t.Status == Done
}

// currentIsLeftOut reports whether a user removed the current task from the plan.
func (m *machine) currentIsLeftOut() bool {
	t, ok := m.s.Task(m.s.Current)
	return ok && t.Status == Skipped && t.LeftOut
}

// stagnant fails a task without progress. After a refusal, an agent that does nothing maintains its
// claim: it is gated again and kept with its evidence.
func (m *machine) stagnant() {
	if c := m.s.Ladder.RefusedClaim; c != nil {
		m.s.Claim, m.s.Ladder.RefusedClaim, m.s.Ladder.IdleTurns = c, nil, 0
		m.remember("nothing was done since the claim was refused, so it stays refused")
		m.inspect()
		return
	}
	why := m.idleReason()
	if m.s.Policy.Gates {
		if !m.s.InSession { // the user may intervene
			m.s.Ladder.Tries = m.maxTries() // the same again is not worth a try
		}
		m.fail(Failing{Reason: why, NoWork: true}, "")
		return
	}
	m.s.Ladder.IdleTurns = 0
	m.s.Failing = &Failing{Reason: why}
	m.beginTurnFor(NoClaim)
}

// idleReason says why turns without progress count as a failure.
func (m *machine) idleReason() string {
	turns := "a turn"
	if n := m.s.Ladder.IdleTurns; n > 1 {
		turns = fmt.Sprintf("%d turns in a row", n)
	}
	if o := m.s.Ladder.OtherPromise; o != nil {
		return fmt.Sprintf("nothing was claimed: %s ended with <promise>%s</promise>, and the promise is %s", turns, o.Said, o.Asked)
	}
	if m.s.Ladder.ToolCallsHidden {
		return fmt.Sprintf("nothing was claimed: %s without the promise that the prompt asks for (Pawl cannot see this agent's tool calls)", turns)
	}
	return fmt.Sprintf("nothing was done: %s without a tool call", turns)
}

// violation counts a change of protected files and restores them; in a user's session it asks the
// agent to. The claim in that turn is dropped; the agent may claim again.
func (m *machine) violation(paths []string) {
	m.s.Violations++
	m.s.Claim = nil
	what := strings.Join(paths, ", ")
	m.do(RestoreFiles{Paths: paths})
	past, told := "changed protected files, restored: ", "these files are protected, and Pawl restored them: "
	if m.s.InSession {
		past, told = "changed protected files: ", "these files are protected; restore them, or ask the user to change them: "
	}
	m.remember(past + what)
	m.learn(violationLesson(what))
	if m.s.Violations >= maxViolations {
		m.finish(Tampered, "the agent kept changing protected files: "+what, "")
		return
	}
	m.s.Failing = &Failing{Reason: told + what}
	m.s.Next.Fresh = m.s.Next.Fresh || m.s.Violations >= violationsUntilFresh
	m.beginTurnFor(Violation)
}

// lastLine returns the last line with content, without claim tags, "" if there is none.
func lastLine(text string) string {
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		line, _, _ = strings.Cut(line, "<promise")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<") {
			return plan.OneLine(line, maxSaidBytes)
		}
	}
	return ""
}

const (
	maxHistory   = 30
	maxSaidBytes = 200 // bytes
)

// remember adds a line to the recap.
func (m *machine) remember(what string) {
	attempt := RecapLine{Iteration: m.s.Iteration, Task: m.s.Current, What: what, LastAgentLine: m.s.LastAgentLine}
	m.s.History = lastOf(append(slices.Clip(m.s.History), attempt), maxHistory)
}
