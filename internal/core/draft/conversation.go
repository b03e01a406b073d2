package draft

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/answer"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Step says whom the conversation waits for.
type Step string

// The steps.
const (
	AskAuthor Step = "ask_author" // a turn in the author's session, then Reply
	AskUser   Step = "ask_user"   // Question is put to the user, then Answer
	AskCritic Step = "ask_critic" // a turn in a fresh session that did not write the plan, then Reply
	Finished  Step = "finished"   // Draft is the plan
	Failed    Step = "failed"     // there is none; Rejected says why
)

// maxFailures is the number of unusable replies in a row after which an agent is
// asked no more.
const maxFailures = 3

// Conversation is the state of one. Make it with Start.
type Conversation struct {
	Idea    string    // what the user wants, in their words
	Source  string    // whose text Idea is, such as "issues of github:12"; "": the user's
	Old     plan.Plan // the plan that is to be improved, if there is one
	Draft   Draft     // the last usable one
	Answers []Answer  // of the user, in the order of the questions
	Remarks []Remark  // of the critic
	// Rejected says why the last reply could not be used, for whoever gave it; "": it
	// could.
	Rejected string
	// Warning says what is missing from a plan that is finished all the same: it was
	// not reviewed, or not revised.
	Warning string

	step      Step
	questions []Question
	asked     bool // the author has asked its questions
	reviewed  bool // the critic has replied
	failures  int
}

// Answer is what the user said to a question.
type Answer struct{ Question, Text string }

// Start begins with the author.
func Start(idea string) Conversation { return Conversation{Idea: idea, step: AskAuthor} }

// Improve begins with the author of a plan that is there. Its tasks that are done are
// kept as they are.
func Improve(idea string, old plan.Plan) Conversation {
	c := Start(idea)
	c.Old = old
	return c
}

// Plan is the plan that was made. Of one that was improved, the tasks that are done come
// first.
func (c Conversation) Plan() plan.Plan { return c.with(c.Draft) }

func (c Conversation) with(d Draft) plan.Plan {
	p := d.Plan()
	p.Title, p.Overview = cmp.Or(p.Title, c.Old.Title), cmp.Or(p.Overview, c.Old.Overview)
	var done []plan.Task
	for _, t := range c.Old.Tasks {
		if t.Done {
			done = append(done, t)
			p.Tasks = slices.DeleteFunc(p.Tasks, func(n plan.Task) bool { return n.ID == t.ID })
		}
	}
	for i := range done { // an open task may have gone
		done[i].DependsOn = slices.DeleteFunc(slices.Clone(done[i].DependsOn), func(id string) bool {
			return !slices.ContainsFunc(slices.Concat(done, p.Tasks), func(t plan.Task) bool { return t.ID == id })
		})
	}
	p.Tasks = append(done, p.Tasks...)
	return p
}

// Step says whom it waits for.
func (c Conversation) Step() Step { return c.step }

// Question is the one to be put to the user, with its number and how many there are.
func (c Conversation) Question() (q Question, number, of int) {
	n := len(c.Answers)
	if n >= len(c.questions) {
		return Question{}, 0, 0
	}
	return c.questions[n], n + 1, len(c.questions)
}

// Answer takes the user's words; none take the proposal.
func (c Conversation) Answer(text string) Conversation {
	q, number, of := c.Question()
	if c.step != AskUser || number == 0 {
		return c
	}
	c.Answers = append(slices.Clip(c.Answers), Answer{q.Question, cmp.Or(strings.TrimSpace(text), q.Proposal)})
	if number == of {
		c.step = AskAuthor
	}
	return c
}

// Reply takes the last message of the agent that was asked.
func (c Conversation) Reply(text string) Conversation {
	switch c.step {
	case AskAuthor:
		return c.authorReplied(text)
	case AskCritic:
		return c.criticReplied(text)
	}
	return c
}

func (c Conversation) authorReplied(text string) Conversation {
	var d Draft
	if err := answer.Decode(text, &d); err != nil {
		return c.rejected(err.Error())
	}
	if len(d.Questions) > 0 && len(d.Tasks) == 0 {
		return c.authorAsks(d.Questions)
	}
	if wrong := d.check(c.with(d)); len(wrong) > 0 {
		return c.rejected(strings.Join(wrong, "; "))
	}
	d.Questions = nil
	c.Draft, c.Rejected, c.failures = d, "", 0
	c.step = AskCritic
	if c.reviewed {
		c.step = Finished
	}
	return c
}

func (c Conversation) authorAsks(questions []Question) Conversation {
	if c.asked {
		return c.rejected("the questions were asked before: decide what is open, and write the plan")
	}
	c.asked, c.Rejected, c.failures = true, "", 0
	for _, q := range questions[:min(len(questions), MaxQuestions)] {
		if strings.TrimSpace(q.Question) != "" {
			c.questions = append(c.questions, q)
		}
	}
	if len(c.questions) > 0 {
		c.step = AskUser
	}
	return c
}

func (c Conversation) criticReplied(text string) Conversation {
	remarks, err := parseCritique(text)
	if err != nil {
		return c.rejected(err.Error())
	}
	c.Remarks, c.Rejected, c.failures, c.reviewed = remarks, "", 0, true
	c.step = Finished
	if len(remarks) > 0 {
		c.step = AskAuthor
	}
	return c
}

// rejected asks the same agent once more, a bounded number of times. A plan that is
// there by then is better than none.
func (c Conversation) rejected(why string) Conversation {
	c.Rejected = why
	if c.failures++; c.failures < maxFailures {
		return c
	}
	switch {
	case len(c.Draft.Tasks) == 0:
		c.step = Failed
	case c.reviewed:
		c.step, c.Warning = Finished, "the plan was not revised after the review: "+why
	default:
		c.step, c.Warning = Finished, "the plan was not reviewed: "+why
	}
	return c
}

// Stop ends the conversation with what there is, for instance because the author can
// be asked no more.
func (c Conversation) Stop(why string) Conversation {
	c.failures = maxFailures
	return c.rejected(why)
}
