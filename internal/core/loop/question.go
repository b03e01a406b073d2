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

// Question is what the agent asks the user. The task's next turn waits for the answer, without
// turns or cost. Meanwhile a runner works on independent tasks: it saves this task's work in a tree
// and restores it when the task continues.
type Question struct {
	Text      string    `json:"text"`
	Choices   []string  `json:"choices,omitempty"`  // answers that the agent suggests
	Proposed  string    `json:"proposed,omitempty"` // what the agent would do without an answer
	Task      string    `json:"task,omitempty"`
	Iteration int       `json:"iteration,omitempty"`
	At        time.Time `json:"at,omitzero"`
	Until     time.Time `json:"until,omitzero"`    // timeout, set once the task waits
	Approve   Approval  `json:"approve,omitempty"` // Pawl asks for approval, at this point
	Details   []string  `json:"details,omitempty"` // of an approval: what would be accepted
	Base      string    `json:"base,omitempty"`    // of an approval: the tree before the work
	Tree      string    `json:"tree,omitempty"`    // of an approval: the tree with the work, "" for the current work tree
	Answer    string    `json:"answer,omitempty"`  // kept until the task continues
}

// Is reports whether other is the same question: an answer to one does not count for another.
func (q Question) Is(other Question) bool {
	return q.Task == other.Task && q.At.Equal(other.At) && q.Text == other.Text && q.Tree == other.Tree
}

// SavedWork is the work on a task that waits while others are worked on.
type SavedWork struct {
	Base string `json:"base"`           // tree that the task started from
	Work string `json:"work,omitempty"` // tree with the work, "" before it is saved
	// RestoredPaths are its files if the user restored it: none of them is the user's.
	RestoredPaths []string `json:"restored_paths,omitempty"`
}

const (
	maxAnswerWait    = 24 * time.Hour // timeout for an answer without Policy.AnswerWithin
	maxQuestionBytes = 2000           // bytes
	maxChoices       = 8
	maxChoiceBytes   = 300 // bytes
	shortIDLength    = 12  // hex digits of a git object ID in a command
)

// AwaitedAnswer returns the question that the loop waits for.
func (s State) AwaitedAnswer() (Question, bool) {
	wait, ok := FindAction[Wait](s.Pending)
	if !ok || s.Phase != Waiting || wait.Task == "" || s.Outcome != "" {
		return Question{}, false
	}
	return s.question(wait.Task)
}

// Unanswered returns the questions that wait for the user, oldest first.
func (s State) Unanswered() []Question {
	return exclude(s.Questions, func(q Question) bool {
		t, _ := s.Task(q.Task)
		return q.Answer != "" || t.Status != Open && q.Approve == ""
	})
}

// question returns the unanswered question of a task.
func (s State) question(task string) (Question, bool) {
	for _, q := range s.Unanswered() {
		if q.Task == task {
			return q, true
		}
	}
	return Question{}, false
}

// NewQuestion returns the question that before does not have.
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

// Named returns the question's text, with its task of a plan.
func (q Question) Named() string {
	if q.hasTask() && q.Approve == "" {
		return q.Text + " (task " + q.Task + ")"
	}
	return q.Text
}

func (q Question) hasTask() bool { return q.Task != "" && q.Task != GoalTask }

// Command returns the command that answers. It names the task of a plan, since others may ask too.
func (q Question) Command(loop string) string {
	switch {
	case q.Approve != "":
		return fmt.Sprintf("pawl approve %s   or  pawl reject %[1]s --why \"…\"", loop)
	case q.hasTask():
		return fmt.Sprintf("pawl answer %s --task %s \"…\"", loop, q.Task)
	}
	return fmt.Sprintf("pawl answer %s \"…\"", loop)
}

// Diff returns the command that shows what an approval would accept, "" if there is none.
func (q Question) Diff() string {
	if q.Approve == "" || q.Base == "" {
		return ""
	}
	short := func(id string) string { return id[:min(len(id), shortIDLength)] }
	if q.Tree == "" { // the work tree, of which git diff shows no new files
		return "git diff " + short(q.Base) + "; git status --short"
	}
	return "git diff " + short(q.Base) + " " + short(q.Tree)
}

// Lines returns the details, the numbered choices, the diff command and the proposal.
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

// Choice returns the answer that the user means: a number selects a suggested one. It fails if
// there are suggestions and none has that number.
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

// questionAsked keeps the latest question of a task.
func (m *machine) questionAsked(asked *Question) {
	if asked == nil || strings.TrimSpace(asked.Text) == "" {
		return
	}
	if q, waits := m.s.question(m.s.Current); waits && q.Approve != "" {
		m.note(Warning, "the agent asked while its work waits for your approval, so its question is dropped: "+plan.OneLine(asked.Text, maxQuestionBytes))
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
	if was, _ := m.s.question(q.Task); m.s.isPutAway(q.Task) {
		q.Until = was.Until // the task waits already
	}
	m.dropQuestion(q.Task)
	m.s.Questions = append(slices.Clip(m.s.Questions), q)
}

func (m *machine) dropQuestion(task string) {
	m.s.Questions = exclude(m.s.Questions, func(q Question) bool { return q.Task == task })
}

// changeQuestion changes the question of a task.
func (m *machine) changeQuestion(task string, change func(*Question)) {
	m.s.Questions = slices.Clone(m.s.Questions)
	for i := range m.s.Questions {
		if m.s.Questions[i].Task == task {
			change(&m.s.Questions[i])
		}
	}
}

// awaitAnswer makes the next turn wait for the answer to the task's question. A runner works on
// other tasks meanwhile.
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
	if _, more := m.pick(); more && !m.s.InSession { // a user's tree is left as it is
		m.saveWork()
		return true
	}
	m.waitForAnswer(q, ThenTurn)
	return true
}

func (m *machine) waitForAnswer(q Question, then After) {
	m.stopClock()
	m.waitFor(Wait{Until: q.Until, Why: "your answer: " + q.Text, Task: q.Task}, then)
}

// saveWork saves the work on the current task, to work on another one.
func (m *machine) saveWork() {
	took := m.s.Elapsed() - m.s.TaskElapsed
	m.updateTask(m.s.Current, func(t *Task) { t.Took, t.SavedWork = t.Took+took, &SavedWork{Base: m.s.Start.Tree} })
	m.remember("asked the user; other tasks come first")
	m.s.Gates.TurnSince, m.s.After = false, ThenSaveWork
	m.await(Checkpointing, Checkpoint{Task: m.s.Current, Subject: m.saveWorkReason()})
}

func (m *machine) saveWorkReason() string { return "task " + m.s.Current + " waits for an answer" }

// restoreBeforeTask restores the task's start tree once its work is saved.
func (m *machine) restoreBeforeTask(work string) {
	m.updateTask(m.s.Current, func(t *Task) { t.SavedWork = &SavedWork{Base: m.s.Start.Tree, Work: work} })
	m.s.After = ThenNext
	m.await(Restoring, Restore{Task: m.s.Current, Tree: m.s.Start.Tree, Why: m.saveWorkReason()})
}

// SavesWork reports whether the current task's work is saved and not undone.
func (s State) SavesWork() bool { return s.isPutAway(s.Current) }

// isPutAway reports whether a task's work is saved and not in the tree.
func (s State) isPutAway(task string) bool {
	t, _ := s.Task(task)
	return t.SavedWork != nil
}

// restored continues after a restore of the start tree.
func (m *machine) restored(r Restored) {
	if !r.Unchanged && !m.s.PutsOthersAway() {
		m.updateTask(m.s.Current, func(t *Task) { t.WorkKept = true })
		if !m.s.SavesWork() {
			m.s.Restores++
		}
	}
	m.follow(m.s.After)
}

// workReapplied begins the turns of a task whose saved work is in the tree again.
func (m *machine) workReapplied(r WorkReapplied) {
	if done, ok := FindAction[ReapplyWork](m.s.Pending); ok && len(r.Conflicts) > 0 {
		m.tellAgent("These files of your work on this task were changed by other tasks meanwhile; those changes are kept: " +
			strings.Join(r.Conflicts, ", ") + ". Your version: git show " + done.Work + ":PATH")
	}
	m.updateTask(m.s.Current, func(t *Task) { t.SavedWork = nil })
	m.follow(m.s.After)
}

// deliverAnswer gives the task its answer.
func (m *machine) deliverAnswer(task string) {
	for _, q := range m.s.Questions {
		if q.Task == task && q.Answer != "" {
			m.tellAgent(fmt.Sprintf("You asked: %s\n%s", q.Text, q.Answer))
		}
	}
	m.dropQuestion(task)
}

// restoreSavedWork restores the saved work before the task's first turn.
func (m *machine) restoreSavedWork() bool {
	t, _ := m.s.Task(m.s.Current)
	switch saved := t.SavedWork; {
	case saved == nil:
		return false
	case saved.Work == "" || saved.Work == saved.Base:
		m.updateTask(t.ID, func(t *Task) { t.SavedWork = nil })
		return false
	default:
		m.s.Next.Situation, m.s.After = FreshRecap, ThenTurn
		m.s.Start.UnfinishedPaths = slices.Concat(m.s.Start.UnfinishedPaths, saved.RestoredPaths)
		m.await(Restoring, ReapplyWork{Task: t.ID, SavedWork: *saved})
		return true
	}
}

// questionAnswered applies the user's answer to the named task, or to the one that asked first.
// Without a question it becomes a message.
func (m *machine) questionAnswered(a Answered) {
	asked := m.s.Unanswered()
	if a.Task != "" {
		asked = exclude(asked, func(q Question) bool { return q.Task != a.Task })
	}
	if a.Question != nil { // only to that one: a late yes must not approve the next question
		asked = exclude(asked, func(q Question) bool { return !q.At.Equal(a.Question.At) })
	}
	if len(asked) == 0 {
		if a.Question == nil {
			m.queue(Message{Text: a.Answer, Task: m.openTask()})
		}
		return
	}
	q := asked[0]
	_, waits := m.s.AwaitedAnswer()
	if q.Approve != "" {
		m.changeQuestion(q.Task, func(kept *Question) {
			if kept.Answer = cmp.Or(strings.TrimSpace(a.Answer), no); Approves(a.Answer) {
				kept.Answer = yes
			}
		})
	} else {
		m.answerTo(q, "The answer: "+a.Answer)
	}
	if waits {
		m.endWait()
	}
}

// answerTo queues the answer for the agent, for when the task that asked is current.
func (m *machine) answerTo(q Question, answer string) {
	if m.s.isPutAway(q.Task) {
		m.changeQuestion(q.Task, func(kept *Question) { kept.Answer = answer })
		return
	}
	m.dropQuestion(q.Task)
	m.tellAgent(fmt.Sprintf("You asked: %s\n%s", q.Text, answer))
}

// endAnswerWait ends the wait for an answer: an edited plan may have other work.
func (m *machine) endAnswerWait() {
	if _, waits := m.s.AwaitedAnswer(); waits {
		m.endWait()
	}
}

// waited continues after a wait.
func (m *machine) waited() {
	m.startClock()
	if q, asked := m.s.AwaitedAnswer(); asked && !m.s.isPutAway(q.Task) && q.Approve == "" {
		if m.answerTimedOut(q) {
			m.skip(Blocked, "nobody answered the question: "+q.Text)
			return
		}
	}
	m.follow(m.s.After)
}

// expireQuestions ends the timeouts of questions whose tasks have saved work.
func (m *machine) expireQuestions() {
	for _, q := range m.s.Unanswered() {
		if m.s.isPutAway(q.Task) && !q.Until.After(m.s.Now) && m.answerTimedOut(q) {
			m.updateTask(q.Task, func(t *Task) { t.Status, t.Why, t.SavedWork = Blocked, "nobody answered the question: "+q.Text, nil })
		}
	}
}

// answerTimedOut reports whether the task is blocked without an answer. If the user set the
// timeout, the agent's proposal counts instead.
func (m *machine) answerTimedOut(q Question) (left bool) {
	if m.s.Policy.AnswerWithin > 0 && q.Proposed != "" {
		m.note(Warning, "nobody answered in time; the agent continues with its proposal: "+q.Proposed)
		m.answerTo(q, "Nobody answered in time. The user lets you continue with your proposal: "+q.Proposed)
		return false
	}
	m.dropQuestion(q.Task)
	return true
}
