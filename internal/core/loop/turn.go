package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

const (
	idleTurns        = 3 // turns in a row without a tool call that are stagnation
	violationsFresh  = 2
	violationsTamper = 3
	backgroundWait   = 10 * time.Minute
	periodicFloor    = time.Second
)

// beginTurn begins the next turn of the current task, unless a limit or a pause
// comes first. It is the only place where a turn begins: no turn can begin past
// a limit.
func (m *machine) beginTurn() {
	if m.stopped() {
		return
	}
	if m.s.Replaced {
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
	if !m.s.Retry || m.s.Iteration == 0 {
		m.s.Iteration++
	}
	m.s.Retry, m.s.LimitsChanged = false, false
	isolated := m.isolates()
	fresh := isolated || m.fresh()
	if fresh && (m.s.Situation == GoOn || m.s.Situation == GatesFailed) {
		m.s.Situation = FreshRecap
	}
	m.s.Fresh = false
	phase := Turning
	switch {
	case isolated:
		phase = Trying
		m.s.Isolated = &IsolatedTurn{Iteration: m.s.Iteration, From: m.s.Now}
	case fresh:
		m.s.Context = 0
	}
	m.ask(phase, Action{
		Do: BeginTurn, Task: m.s.Current, Iteration: m.s.Iteration, Fresh: fresh, Isolated: isolated,
		Situation: m.s.Situation, Notes: m.toPrompt(),
	})
}

// fresh tells whether the next turn gets an empty context. A user's session has
// the one that it has.
func (m *machine) fresh() bool {
	p := m.s.Policy
	return !m.s.Attended && (m.s.Fresh || p.Session == PerTurn && m.s.Situation != Interruption ||
		p.Session == Hybrid && m.contextFull())
}

// contextFull reports whether the agent's context is as full as may be (--handover-at):
// the next turn gets a fresh session, a user's session hands the loop over.
func (m *machine) contextFull() bool {
	at := m.s.Policy.HandoverAt
	return at > 0 && m.s.Context >= at
}

func (m *machine) turnEnded(t Turn) {
	if t.ByUser {
		m.s.Retry = true // it took the place of nothing: the loop's own turn is still due
		m.s.Situation = GoOn
		m.beginTurn()
		return
	}
	m.forgetDelivered()
	m.weighTurn(t)
}

// weighTurn goes on from what a turn came to, be it that it was cut off.
func (m *machine) weighTurn(t Turn) {
	m.count(t)
	m.s.Trouble = Trouble{}
	if !m.claimable() && !m.s.Policy.Gates { // nothing else tells that a try went well
		m.s.Ladder = Ladder{Idle: m.s.Ladder.Idle}
	}
	m.s.Ladder.Blind = t.Blind
	if t.ToolCalls == 0 {
		m.s.Ladder.Idle++
	} else {
		m.s.Ladder.Idle = 0
	}
	m.tested(t.Test)
	if m.stopped() {
		return
	}
	m.s.Claim = m.allowedClaim(t.Claim)
	if m.s.Claim != nil && m.s.Claim.Summary != "" {
		m.s.Said = plan.OneLine(m.s.Claim.Summary, maxSaidBytes)
	}
	m.partly(t.Partial)
	m.questionAsked(t.Question)
	if t.Unreadable {
		m.tellAgent("Your question could not be read, and nobody has seen it. Ask it again at the end of your message, on lines of its own, as " +
			`<question proposed="A" choices="A|B">TEXT</question>` + " with the values in double quotes.")
	}
	if m.s.Policy.Kind == Answer && m.s.Claim != nil {
		m.s.Answer = t.Text
	}
	if m.s.Attended && t.Claim == nil && m.newBackground(t.Background) {
		m.wait(m.s.Now.Add(backgroundWait), ThenTurn, "background work: "+strings.Join(t.Background, ", "))
		return
	}
	m.inspect()
}

// allowedClaim is the claim that counts. A goal whose own limit is its end has none to
// make, but for the word that it cannot go on.
func (m *machine) allowedClaim(c *Claim) *Claim {
	if c != nil && !c.Blocked && !m.claimable() {
		return nil
	}
	return c
}

func (m *machine) claimable() bool {
	return m.s.Policy.Kind != Explore && m.s.Policy.Kind != Periodic
}

// count books what a turn cost, whether it came to its own end or died.
func (m *machine) count(t Turn) {
	m.s.Turns++
	m.s.Said = lastLine(t.Text)
	m.s.Unjudged = true
	m.addUsage(t.Usage)
	if t.Context >= 0 {
		m.s.Context = t.Context
	}
	m.task(m.s.Current, func(t *Task) {
		if t.Turns == 0 || t.LastTurn != m.s.Iteration {
			t.Turns, t.LastTurn = t.Turns+1, m.s.Iteration
		}
	})
}

// addUsage books a cost on the loop and on the task at work.
func (m *machine) addUsage(u Usage) {
	m.s.Usage = m.s.Usage.Add(u)
	m.task(m.s.Current, func(t *Task) { t.CostUSD = Usage{CostUSD: t.CostUSD}.Add(u).CostUSD })
}

// newBackground tells whether there is work in the background that was not
// waited for yet: the stop is allowed once per piece of it.
func (m *machine) newBackground(work []string) bool {
	fresh := false
	for _, w := range work {
		if !slices.Contains(m.s.Waited, w) {
			m.s.Waited = append(slices.Clip(m.s.Waited), w)
			fresh = true
		}
	}
	return fresh
}

// inspect is deep only where something will be judged: turns without a claim are
// cheap.
func (m *machine) inspect() {
	deep := m.s.Claim != nil && !m.s.Claim.Blocked || m.s.Policy.Verify || m.s.Policy.EveryTurn || m.limit() != "" || m.atMessage()
	m.ask(Looking, Action{Do: Look, Deep: deep})
}

func (m *machine) treeInspected(seen Inspection) {
	for _, r := range seen.Remarks {
		m.notify(Info, r)
	}
	m.added(seen.Added)
	m.keptAside(seen.Aside)
	for _, id := range seen.ByUser {
		m.task(id, func(t *Task) { t.Status, t.Earlier, t.Why = Done, true, "ticked by a user" })
	}
	if m.stopped() {
		return
	}
	if len(seen.Marked) > 0 && m.claimable() && (m.s.Claim == nil || !m.s.Claim.Blocked) {
		c := Claim{Tasks: seen.Marked}
		if m.s.Claim != nil {
			c.NoBehaviourChange = m.s.Claim.NoBehaviourChange
			c.Tasks = append(slices.Clone(m.named(*m.s.Claim)), seen.Marked...)
		}
		m.s.Claim = &c
		if seen.Unknown {
			m.ask(Looking, Action{Do: Look, Deep: true}) // the mark was the first sign of a claim
			return
		}
	}
	switch {
	case len(seen.Tampered) > 0:
		m.violation(seen.Tampered)
	case len(seen.Refused) > 0:
		m.rejectedTestsChanged(seen.Refused)
	case m.doneAlready():
		m.s.Claim = nil
		m.next()
	case m.s.Claim != nil && m.s.Claim.Blocked:
		m.skip(Blocked, m.s.Claim.Reason)
	case m.s.Claim != nil:
		m.routeClaim(seen)
	case m.messageTurnEnded(seen):
	case m.s.Policy.Verify:
		m.s.Claim = &Claim{}
		m.runGates(ForClaim)
	case m.s.Policy.Kind == Periodic && m.limit() == "": // else there is no next time
		m.s.Situation = GoOn
		m.s.Fresh = true
		m.wait(m.s.Now.Add(max(m.s.Policy.Every, periodicFloor)), ThenTurn, "until the next time")
	case m.s.Policy.Kind == Change && (m.s.Ladder.Idle >= idleTurns || m.s.Ladder.Idle > 0 && m.s.Ladder.Attempt > sameSession):
		m.stagnant()
	case m.standsStill():
		m.stillRed()
	case m.s.Policy.EveryTurn && m.s.Policy.Gates && m.limit() == "":
		m.runGates(ForTurn)
	default:
		m.s.Situation = GoOn
		m.beginTurn()
	}
}

// doneAlready: a user ticked the task at work, whatever the agent says of it.
func (m *machine) doneAlready() bool {
	t, ok := m.s.Task(m.s.Current)
	return ok && t.Status == Done
}

// stagnant fails a task at which nothing is done any more. After a refusal, an agent that
// does nothing stands by its claim: that is judged again, and kept for what it is worth.
func (m *machine) stagnant() {
	if c := m.s.Ladder.Standing; c != nil {
		m.s.Claim, m.s.Ladder.Standing, m.s.Ladder.Idle = c, nil, 0
		m.remember("nothing was done since the claim was refused: it stands")
		m.inspect()
		return
	}
	what := "nothing was done: %s without a tool call"
	if m.s.Ladder.Blind {
		what = "nothing was claimed: %s without a <promise> line (Pawl cannot see this agent's tool calls)"
	}
	why := fmt.Sprintf(what, "a turn")
	if n := m.s.Ladder.Idle; n > 1 {
		why = fmt.Sprintf(what, fmt.Sprintf("%d turns in a row", n))
	}
	if m.s.Policy.Gates {
		if !m.s.Attended { // a user's words may come between
			m.s.Ladder.Tries = m.maxTries() // more of the same is not worth a try
		}
		m.fail(Failing{Reason: why, NoWork: true}, "")
		return
	}
	m.s.Ladder.Idle = 0
	m.s.Failing = &Failing{Reason: why}
	m.s.Situation = GoOn
	m.beginTurn()
}

// violation counts a change of protected files and restores them; in a user's
// session it asks the agent to. The claim that came with the change is not judged:
// the agent learns why, and may claim again.
func (m *machine) violation(paths []string) {
	m.s.Violations++
	m.s.Claim = nil
	what := strings.Join(paths, ", ")
	m.do(Action{Do: PutBack, Paths: paths})
	past, told := "changed protected files, restored: ", "these files are protected, and Pawl restored them: "
	if m.s.Attended {
		past, told = "changed protected files: ", "these files are protected; restore them, or ask the user to change them: "
	}
	m.remember(past + what)
	m.learn(violationLesson(what))
	if m.s.Violations >= violationsTamper {
		m.finish(Tampered, "the agent kept changing protected files: "+what, "")
		return
	}
	m.s.Failing = &Failing{Reason: told + what}
	m.s.Fresh = m.s.Fresh || m.s.Violations >= violationsFresh
	m.s.Situation = Violation
	m.beginTurn()
}

// lastLine is the last line of a text that says something, "" if none does. A
// claim's tag says nothing of the work.
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
	historyMax   = 30
	maxSaidBytes = 200 // bytes
)

// remember adds a line to the recap.
func (m *machine) remember(what string) {
	attempt := RecapLine{Iteration: m.s.Iteration, Task: m.s.Current, What: what, Said: m.s.Said}
	m.s.History = lastOf(append(slices.Clip(m.s.History), attempt), historyMax)
}
