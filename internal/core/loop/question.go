package loop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Question is what the agent asks the user. The next turn of its task waits for the
// answer, without turns and without cost. Other tasks do not wait.
type Question struct {
	Text      string    `json:"text"`
	Choices   []string  `json:"choices,omitempty"`  // answers that the agent suggests
	Proposed  string    `json:"proposed,omitempty"` // what it would do without an answer
	Task      string    `json:"task,omitempty"`
	Iteration int       `json:"iteration,omitempty"`
	At        time.Time `json:"at,omitzero"`
	Until     time.Time `json:"until,omitzero"` // while the loop waits for the answer: how long
}

const (
	answerMost  = 24 * time.Hour // that a loop waits for an answer where the user chose no time
	questionMax = 2000           // bytes
	choicesMax  = 8
	choiceMax   = 300 // bytes
)

// AwaitedAnswer returns the question that the loop waits for.
func (s State) AwaitedAnswer() (Question, bool) {
	if s.Question == nil || s.Question.Until.IsZero() || s.Outcome != "" {
		return Question{}, false
	}
	return *s.Question, true
}

// NewQuestion returns the question that was not asked in an earlier state.
func (s State) NewQuestion(before State) (Question, bool) {
	if s.Question == nil || before.Question != nil && before.Question.At.Equal(s.Question.At) {
		return Question{}, false
	}
	return *s.Question, true
}

// Lines are the suggested answers, numbered as pawl answer takes them, and what counts
// without an answer.
func (q Question) Lines() []string {
	var lines []string
	for i, c := range q.Choices {
		lines = append(lines, fmt.Sprintf("%d: %s", i+1, c))
	}
	if q.Proposed != "" {
		lines = append(lines, "the agent proposes: "+q.Proposed)
	}
	return lines
}

// Choice is the answer that a user means: a number stands for a suggested one.
func (q Question) Choice(answer string) string {
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(q.Choices) {
		return q.Choices[n-1]
	}
	return answer
}

// talk takes a word between user and agent.
func (m *machine) talk(e Event) {
	switch e.Kind {
	case QuestionAsked:
		m.questionAsked(e.Question)
	case Answered:
		m.questionAnswered(e.Text)
	case Delivered:
		m.delivered(e.IDs)
	default:
		m.messageArrived(e)
	}
}

// questionAsked keeps the question, the last one where there are several.
func (m *machine) questionAsked(asked *Question) {
	if asked == nil || strings.TrimSpace(asked.Text) == "" {
		return
	}
	q := *asked
	q = Question{
		Text: plan.OneLine(q.Text, questionMax), Proposed: plan.OneLine(q.Proposed, choiceMax),
		Task: m.s.Current, Iteration: m.s.Iteration, At: m.s.Now, Choices: slices.Clone(q.Choices[:min(len(q.Choices), choicesMax)]),
	}
	for i, c := range q.Choices {
		q.Choices[i] = plan.OneLine(c, choiceMax)
	}
	m.s.Question = &q
}

// awaitsAnswer makes the next turn of a task wait for the answer to its question.
func (m *machine) awaitsAnswer() bool {
	if m.s.Question == nil || m.s.Question.Task != m.s.Current {
		return false
	}
	q, within := *m.s.Question, m.s.Policy.AnswerWithin
	if within <= 0 {
		within = answerMost
	}
	if q.Until.IsZero() {
		q.Until = m.s.Now.Add(within)
	}
	m.s.Question = &q
	m.away()
	m.wait(q.Until, ThenTurn, "your answer: "+q.Text)
	return true
}

// questionAnswered passes the user's answer on. Without a question it is a message.
func (m *machine) questionAnswered(answer string) {
	q := m.s.Question
	if q == nil {
		m.hear(answer)
		return
	}
	m.s.Question = nil
	m.hear(fmt.Sprintf("You asked: %s\nThe answer: %s", q.Text, answer))
	if m.s.Phase == Waiting && !q.Until.IsZero() {
		m.back()
		m.follow(ThenTurn)
	}
}

// waited goes on after a wait.
func (m *machine) waited() {
	m.back()
	if _, asked := m.s.AwaitedAnswer(); asked {
		m.unanswered()
		return
	}
	m.follow(m.s.After)
}

// unanswered goes on when the time for an answer is over: with what the agent proposed,
// if the user chose that time. Otherwise no answer is no yes, and the task is left.
func (m *machine) unanswered() {
	q := *m.s.Question
	m.s.Question = nil
	if m.s.Policy.AnswerWithin > 0 && q.Proposed != "" {
		m.notify(Warning, "nobody answered in time; the agent goes on as it proposed: "+q.Proposed)
		m.hear(fmt.Sprintf("You asked: %s\nNobody answered in time. The user lets you go on as you proposed: %s", q.Text, q.Proposed))
		m.beginTurn()
		return
	}
	m.skip(Blocked, "nobody answered the question: "+q.Text)
}
