// Package draft decides the conversation in which a plan is written: one agent (the
// author) asks the user and writes, another (the critic) reviews.
//
//	c := draft.Start("export as CSV")
//	c = c.Reply(`{"questions": [{"question": "Which delimiter?", "proposal": "comma"}]}`)
//	c.Step()       // draft.AskUser: c.Question() is put to the user
//	c = c.Answer("")
//	c.Step()       // draft.AskAuthor
//
// Conversation is a value. The caller asks the agents and the user, and adds their replies. The number
// of replies is limited. A plan is only accepted if each task can be checked: see Draft.Check.
package draft

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/answer"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// Draft is a reply of the author: questions, or a plan.
type Draft struct {
	Questions []Question `json:"questions,omitempty"`
	Title     string     `json:"title,omitempty"`    // of the plan
	Overview  string     `json:"overview,omitempty"` // prose that every task's prompt gets
	Gates     []string   `json:"gates,omitempty"`    // commands that must pass
	Tasks     []Task     `json:"tasks,omitempty"`
}

// Question is a question that only the user can decide.
type Question struct {
	Question string `json:"question"`
	Proposal string `json:"proposal"` // the answer that the author would choose
}

// Task is one task of a draft.
type Task struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Detail    string   `json:"detail,omitempty"`
	Criteria  []string `json:"criteria"`             // each can be checked
	Scope     []string `json:"scope,omitempty"`      // globs of the files that it will touch
	DependsOn []string `json:"depends_on,omitempty"` // ids
	Evidence  string   `json:"evidence"`             // proven or unproven
	// Proof is the test that fails before the task and passes after it. For an unproven task, it is the
	// reason why no test can show the work.
	Proof string `json:"proof"`
}

// Schema is the JSON Schema of a Draft, for agents that support one.
const Schema = `{"type":"object","additionalProperties":false,"properties":{` +
	`"questions":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["question","proposal"],"properties":{` +
	`"question":{"type":"string"},"proposal":{"type":"string"}}}},` +
	`"title":{"type":"string"},"overview":{"type":"string"},"gates":{"type":"array","items":{"type":"string"}},` +
	`"tasks":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["id","title","criteria","evidence","proof"],"properties":{` +
	`"id":{"type":"string"},"title":{"type":"string"},"detail":{"type":"string"},` +
	`"criteria":{"type":"array","items":{"type":"string"}},"scope":{"type":"array","items":{"type":"string"}},` +
	`"depends_on":{"type":"array","items":{"type":"string"}},"evidence":{"type":"string","enum":["proven","unproven"]},"proof":{"type":"string"}}}}}}`

// Limits of a draft.
const (
	MaxQuestions  = 5
	MaxTasks      = 50
	maxTitleRunes = 120
)

// The kinds of evidence that a task may require.
const (
	proven   = "proven"
	unproven = "unproven"
)

// taskID matches ids that every plan format can hold.
var taskID = regex.New(`^[A-Za-z0-9]+(?:[-._][A-Za-z0-9]+)*$`)

// Check lists what is wrong with a plan, in words for the author. It is empty if a
// loop can work on the plan and a user can see how each task is checked.
func (d Draft) Check() []string { return d.check(d.Plan()) }

// check is Check for the plan made of the draft.
func (d Draft) check(made plan.Plan) []string {
	var wrong []string
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if len(d.Tasks) > MaxTasks {
		add("there are %d tasks; write at most %d", len(d.Tasks), MaxTasks)
	}
	if len(d.gates()) == 0 && slices.ContainsFunc(d.Tasks, func(t Task) bool { return t.Evidence == proven }) {
		add("gates is empty: name the command that runs the tests")
	}
	for _, t := range d.Tasks {
		for _, problem := range t.check() {
			add("task %q: %s", plan.OneLine(t.ID, 40), problem)
		}
	}
	for _, p := range made.Check() {
		add("%s", p.Message)
	}
	return wrong
}

func (t Task) check() []string {
	var wrong []string
	title := []rune(strings.TrimSpace(t.Title))
	if !taskID.MatchString(t.ID) {
		wrong = append(wrong, "its id is not made of letters, digits and single - . _ between them")
	}
	if len(title) == 0 || len(title) > maxTitleRunes || strings.ContainsAny(t.Title, "\r\n") {
		wrong = append(wrong, fmt.Sprintf("its title is not one line of 1 to %d characters", maxTitleRunes))
	}
	if len(nonEmpty(t.Criteria)) == 0 {
		wrong = append(wrong, "it has no criteria")
	}
	if t.Evidence != proven && t.Evidence != unproven {
		wrong = append(wrong, "its evidence is not proven or unproven")
	}
	if strings.TrimSpace(t.Proof) == "" {
		wrong = append(wrong, "its proof is empty: name the test, or say why none can tell")
	}
	for _, glob := range t.Scope {
		if _, err := path.Match(glob, ""); err != nil || strings.ContainsAny(glob, " ,\r\n") || path.IsAbs(glob) || strings.Contains(glob, "..") {
			wrong = append(wrong, fmt.Sprintf("its scope %q is not a glob below the root, without blanks and commas", plan.OneLine(glob, 60)))
		}
	}
	return wrong
}

// Plan converts the draft to a plan. The detail of a task says how it is checked.
func (d Draft) Plan() plan.Plan {
	p := plan.Plan{Title: strings.TrimSpace(d.Title), Overview: strings.TrimSpace(d.Overview), Gates: d.gates()}
	for _, t := range d.Tasks {
		task := plan.Task{
			ID: t.ID, Title: strings.TrimSpace(t.Title), Criteria: nonEmpty(t.Criteria),
			DependsOn: t.DependsOn, Scope: t.Scope,
			Detail: strings.TrimSpace(strings.TrimSpace(t.Detail) + "\n\nChecked by: " + strings.TrimSpace(t.Proof)),
		}
		if t.Evidence == unproven {
			task.Evidence = unproven
		}
		p.Tasks = append(p.Tasks, task)
	}
	return p
}

func (d Draft) gates() []string { return nonEmpty(d.Gates) }

func nonEmpty(lines []string) []string {
	var out []string
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// Critique is a reply of the critic.
type Critique struct {
	Remarks []Remark `json:"remarks"`
}

// Remark is a problem that the critic found.
type Remark struct {
	Task       string `json:"task"` // id of the task, "" for the whole plan
	Problem    string `json:"problem"`
	Suggestion string `json:"suggestion"`
}

// String returns the remark in one line.
func (r Remark) String() string {
	s := plan.OneLine(r.Problem, 300)
	if r.Suggestion != "" {
		s += " Suggestion: " + plan.OneLine(r.Suggestion, 300)
	}
	if r.Task != "" {
		s = "task " + plan.OneLine(r.Task, 40) + ": " + s
	}
	return s
}

// CritiqueSchema is the JSON Schema of a Critique.
const CritiqueSchema = `{"type":"object","additionalProperties":false,"required":["remarks"],"properties":{` +
	`"remarks":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["task","problem","suggestion"],"properties":{` +
	`"task":{"type":"string"},"problem":{"type":"string"},"suggestion":{"type":"string"}}}}}}`

func parseCritique(text string) ([]Remark, error) {
	var c Critique
	if err := answer.Decode(text, &c); err != nil {
		return nil, err
	}
	c.Remarks = slices.DeleteFunc(c.Remarks, func(r Remark) bool { return strings.TrimSpace(r.Problem) == "" })
	return c.Remarks[:min(len(c.Remarks), maxRemarks)], nil
}

const maxRemarks = 20
