package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Question is what the agent asks the user. The next turn of its task waits for the
// answer, without turns and without cost. Meanwhile a runner works on other tasks that do
// not depend on it: the work on the one that asks is put away, and brought back when it
// is taken up again.
type Question struct {
	Text      string     `json:"text"`
	Choices   []string   `json:"choices,omitempty"`  // answers that the agent suggests
	Proposed  string     `json:"proposed,omitempty"` // what it would do without an answer
	Task      string     `json:"task,omitempty"`
	Iteration int        `json:"iteration,omitempty"`
	At        time.Time  `json:"at,omitzero"`
	Until     time.Time  `json:"until,omitzero"`       // once the task waits: how long
	Approve   Approval   `json:"approve,omitempty"`    // it is Pawl that asks for a yes, at this point
	Details   []string   `json:"details,omitempty"`    // of an approval: what would be accepted
	Base      string     `json:"base,omitempty"`       // of an approval: the tree before the work
	Tree      string     `json:"tree,omitempty"`       // of an approval: the tree with the work, "" for the work tree
	Answer    string     `json:"answer,omitempty"`     // for the task, which waits for its turn
	SavedWork *SavedWork `json:"saved_work,omitempty"` // the task's work, nil while it is in the tree
}

// SetAside is the work on a task that others are worked on before.
type SavedWork struct {
	Base string `json:"base"`           // tree that the task started from
	Work string `json:"work,omitempty"` // tree with what was done, "" before it is put away
}

const (
	maxAnswerWait    = 24 * time.Hour // that a loop waits for an answer where the user chose no time
	maxQuestionBytes = 2000           // bytes
	maxChoices       = 8
	maxChoiceBytes   = 300 // bytes
	shortIDLength    = 12  // characters of a git object's id in what a user types
)

// AwaitedAnswer returns the question that the loop waits for.
func (s State) AwaitedAnswer() (Question, bool) {
	wait, ok := s.PendingAction(Wait)
	if !ok || s.Phase != Waiting || wait.Task == "" || s.Outcome != "" {
		return Question{}, false
	}
	return s.question(wait.Task)
}

// Unanswered are the questions that wait for the user, oldest first.
func (s State) Unanswered() []Question {
	return exclude(s.Questions, func(q Question) bool {
		t, _ := s.Task(q.Task)
		return q.Answer != "" || t.Status != Open && q.Approve == ""
	})
}

// question returns the unanswered one of a task.
func (s State) question(task string) (Question, bool) {
	for _, q := range s.Unanswered() {
		if q.Task == task {
			return q, true
		}
	}
	return Question{}, false
}

// NewQuestion returns the question that was not asked in an earlier state.
func (s State) NewQuestion(before State) (Question, bool) {
	for _, q := range s.Questions {
		if !slices.ContainsFunc(before.Questions, func(b Question) bool { return b.Task == q.Task && b.At.Equal(q.At) }) {
			return q, true
		}
	}
	return Question{}, false
}

// Headline says who asks what, and for which task of a plan.
func (q Question) Headline() string {
	if q.Approve != "" {
		return "waits for your approval: " + q.Text
	}
	if q.hasTask() {
		return "the agent asks about task " + q.Task + ": " + q.Text
	}
	return "the agent asks: " + q.Text
}

// Named is the question's text, with its task of a plan.
func (q Question) Named() string {
	if q.hasTask() && q.Approve == "" {
		return q.Text + " (task " + q.Task + ")"
	}
	return q.Text
}

func (q Question) hasTask() bool { return q.Task != "" && q.Task != GoalTask }

// Command is what the user types to answer. It names the task of a plan, for others may
// ask, too.
func (q Question) Command(loop string) string {
	switch {
	case q.Approve != "":
		return fmt.Sprintf("pawl approve %s   or  pawl reject %[1]s --why \"…\"", loop)
	case q.hasTask():
		return fmt.Sprintf("pawl answer %s --task %s \"…\"", loop, q.Task)
	}
	return fmt.Sprintf("pawl answer %s \"…\"", loop)
}

// Diff is the command that shows what an approval would accept, "" if there is none.
func (q Question) Diff() string {
	if q.Approve == "" || q.Base == "" {
		return ""
	}
	short := func(id string) string { return id[:min(len(id), shortIDLength)] }
	return strings.TrimSpace("git diff " + short(q.Base) + " " + short(q.Tree))
}

// Lines are the suggested answers, numbered as pawl answer takes them, and what counts
// without an answer.
func (q Question) Lines() []string {
	lines := slices.Clone(q.Details)
	for i, c := range q.Choices {
		lines = append(lines, fmt.Sprintf("%d: %s", i+1, c))
	}
	if diff := q.Diff(); diff != "" {
		lines = append(lines, diff)
	}
	if q.Proposed != "" {
		lines = append(lines, "the agent proposes: "+q.Proposed)
	}
	return lines
}

// Choice is the answer that a user means: a number stands for a suggested one. It
// returns an error if there are suggested ones, and none has that number.
func (q Question) Choice(answer string) (string, error) {
	n, err := strconv.Atoi(answer)
	switch {
	case err != nil || len(q.Choices) == 0:
		return answer, nil //nolint:nilerr // it is no number
	case n < 1 || n > len(q.Choices):
		return "", fmt.Errorf("there are %d suggested answers, and none is number %s", len(q.Choices), answer)
	}
	return q.Choices[n-1], nil
}

// talk takes a word between user and agent.
func (m *machine) conversationEvent(e Event) {
	switch e.Kind {
	case QuestionAsked:
		m.questionAsked(e.Question)
	case Answered:
		m.questionAnswered(e)
	case Delivered:
		m.delivered(e.IDs)
	default:
		m.messageArrived(e)
	}
}

// questionAsked keeps the question, of a task the last one.
func (m *machine) questionAsked(asked *Question) {
	if asked == nil || strings.TrimSpace(asked.Text) == "" {
		return
	}
	q := *asked
	q = Question{
		Text: plan.OneLine(q.Text, maxQuestionBytes), Proposed: plan.OneLine(q.Proposed, maxChoiceBytes),
		Task: m.s.Current, Iteration: m.s.Iteration, At: m.s.Now, Choices: slices.Clone(q.Choices[:min(len(q.Choices), maxChoices)]),
	}
	for i, c := range q.Choices {
		q.Choices[i] = plan.OneLine(c, maxChoiceBytes)
	}
	m.dropQuestion(q.Task)
	m.s.Questions = append(slices.Clip(m.s.Questions), q)
}

func (m *machine) dropQuestion(task string) {
	m.s.Questions = exclude(m.s.Questions, func(q Question) bool { return q.Task == task })
}

// ofQuestion changes the question of a task.
func (m *machine) changeQuestion(task string, change func(*Question)) {
	m.s.Questions = slices.Clone(m.s.Questions)
	for i := range m.s.Questions {
		if m.s.Questions[i].Task == task {
			change(&m.s.Questions[i])
		}
	}
}

// awaitAnswer makes the next turn of a task wait for the answer to its question. Where
// there is other work that does not, that is done meanwhile.
func (m *machine) awaitAnswer() bool {
	q, asks := m.s.question(m.s.Current)
	if !asks {
		return false
	}
	if q.Until.IsZero() {
		within := m.s.Policy.AnswerWithin
		if within <= 0 {
			within = maxAnswerWait
		}
		q.Until = m.s.Now.Add(within)
		m.changeQuestion(q.Task, func(kept *Question) { kept.Until = q.Until })
	}
	if _, more := m.pick(); more && !m.s.Attended { // a user's tree is left as it is
		m.saveWork()
		return true
	}
	m.waitForAnswer(q, ThenTurn)
	return true
}

// worksMeanwhile has a runner that takes over a wait for an answer do other work, if there is some: who
// had the loop before may have been a session, whose tree is left as it is.
func (m *machine) resumeOtherWork() bool {
	q, waits := m.s.AwaitedAnswer()
	if !waits || q.Approve != "" || m.s.Attended {
		return false
	}
	if _, more := m.pick(); !more {
		return false
	}
	m.startClock()
	m.follow(m.s.After)
	return true
}

func (m *machine) waitForAnswer(q Question, then After) {
	m.stopClock()
	m.waitFor(Action{Task: q.Task, Until: q.Until, Text: "your answer: " + q.Text}, then)
}

// setAside puts the work on the current task away, for another task.
func (m *machine) saveWork() {
	took := m.s.Elapsed() - m.s.TaskElapsed
	m.updateTask(m.s.Current, func(t *Task) { t.Took += took })
	m.changeQuestion(m.s.Current, func(q *Question) { q.SavedWork = &SavedWork{Base: m.s.StartTree} })
	m.remember("asked the user; other tasks go first")
	m.s.TurnSinceGates, m.s.After = false, ThenSaveWork
	m.await(Checkpointing, Action{Do: Checkpoint, Task: m.s.Current, Text: m.saveWorkReason()})
}

func (m *machine) saveWorkReason() string { return "task " + m.s.Current + " waits for an answer" }

// restoreBeforeTask goes back to where the task began, once its work is held by a tree.
func (m *machine) restoreBeforeTask(work string) {
	m.changeQuestion(m.s.Current, func(q *Question) { q.SavedWork = &SavedWork{Base: m.s.StartTree, Work: work} })
	m.s.After = ThenNext
	m.await(Restoring, Action{Do: Restore, Task: m.s.Current, Tree: m.s.StartTree, Text: m.saveWorkReason()})
}

// PutsAside reports whether the current task waits for an answer, so that its work is put
// away and not undone.
func (s State) SavesWork() bool {
	return slices.ContainsFunc(s.Questions, func(q Question) bool { return q.Task == s.Current && q.SavedWork != nil })
}

// restored goes on after the tree was put back, or work was brought into it.
func (m *machine) restored(e Event) {
	if !e.Unchanged && m.s.WorkToRestore == nil {
		m.updateTask(m.s.Current, func(t *Task) { t.WorkKept = true })
		if !m.s.SavesWork() {
			m.s.Restores++
		}
	}
	if len(e.Paths) > 0 && m.s.WorkToRestore != nil {
		m.tellAgent("These files of your work on this task were changed by other tasks meanwhile, and stay as those left them: " +
			strings.Join(e.Paths, ", ") + ". As you had them: git show " + m.s.WorkToRestore.Work + ":PATH")
	}
	m.s.WorkToRestore = nil
	m.follow(m.s.After)
}

// resumeAsked gives a task that asked its answer, and remembers to bring its work back.
func (m *machine) deliverAnswer(task string) {
	for _, q := range m.s.Questions {
		if q.Task == task && q.Answer != "" {
			m.tellAgent(fmt.Sprintf("You asked: %s\n%s", q.Text, q.Answer))
			m.s.WorkToRestore = q.SavedWork
		}
	}
	m.dropQuestion(task)
}

// restoreSetAside puts the work that was put away into the tree, before the task's first turn.
func (m *machine) restoreSavedWork() bool {
	b := m.s.WorkToRestore
	if b == nil || b.Work == "" || b.Work == b.Base {
		m.s.WorkToRestore = nil
		return false
	}
	m.s.Situation, m.s.After = FreshRecap, ThenTurn
	m.await(Restoring, Action{Do: Restore, Task: m.s.Current, From: b.Base, Tree: b.Work, Text: "the work on it was put away"})
	return true
}

// questionAnswered passes the user's answer on: to the task named, else to the one that
// asked first. Without a question it is a message.
func (m *machine) questionAnswered(e Event) {
	asked := m.s.Unanswered()
	if len(e.Tasks) > 0 {
		asked = exclude(asked, func(q Question) bool { return q.Task != e.Tasks[0] })
	}
	if e.Question != nil { // to that one alone: a late yes is no yes to the next question
		asked = exclude(asked, func(q Question) bool { return !q.At.Equal(e.Question.At) })
	}
	if len(asked) == 0 {
		if e.Question == nil {
			m.queue(Message{Text: e.Text, Task: m.openTask()})
		}
		return
	}
	q := asked[0]
	_, waits := m.s.AwaitedAnswer()
	if q.Approve != "" {
		m.changeQuestion(q.Task, func(kept *Question) {
			if kept.Answer = cmp.Or(strings.TrimSpace(e.Text), no); Approves(e.Text) {
				kept.Answer = yes
			}
		})
	} else {
		m.answerTo(q, "The answer: "+e.Text)
	}
	if waits {
		m.startClock()
		m.follow(m.s.After)
	}
}

// answerTo tells the agent, when the task that asked is at work again.
func (m *machine) answerTo(q Question, answer string) {
	if q.SavedWork != nil {
		m.changeQuestion(q.Task, func(kept *Question) { kept.Answer = answer })
		return
	}
	m.dropQuestion(q.Task)
	m.tellAgent(fmt.Sprintf("You asked: %s\n%s", q.Text, answer))
}

// morePlan ends the wait for an answer: with the plan edited there may be other work.
func (m *machine) endAnswerWait() {
	if _, waits := m.s.AwaitedAnswer(); waits {
		m.startClock()
		m.follow(m.s.After)
	}
}

// waited goes on after a wait.
func (m *machine) waited() {
	m.startClock()
	if q, asked := m.s.AwaitedAnswer(); asked && q.SavedWork == nil && q.Approve == "" {
		if m.answerTimedOut(q) {
			m.skip(Blocked, "nobody answered the question: "+q.Text)
			return
		}
	}
	m.follow(m.s.After)
}

// expire ends the time for the answers to tasks that were put away.
func (m *machine) expireQuestions() {
	for _, q := range m.s.Unanswered() {
		if q.SavedWork != nil && !q.Until.After(m.s.Now) && m.answerTimedOut(q) {
			m.updateTask(q.Task, func(t *Task) { t.Status, t.Why = Blocked, "nobody answered the question: "+q.Text })
		}
	}
}

// unanswered decides when the time for an answer is over: what the agent proposed counts
// if the user chose that time. Otherwise no answer is not yes, and the task is left.
func (m *machine) answerTimedOut(q Question) (left bool) {
	if m.s.Policy.AnswerWithin > 0 && q.Proposed != "" {
		m.notify(Warning, "nobody answered in time; the agent goes on as it proposed: "+q.Proposed)
		m.answerTo(q, "Nobody answered in time. The user lets you go on as you proposed: "+q.Proposed)
		return false
	}
	m.dropQuestion(q.Task)
	return true
}
