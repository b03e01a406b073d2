package draft

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/answer"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Step is what the conversation waits for.
type Step string

// The steps.
const (
	AskAuthor Step = "ask_author" // a turn in the author's session, then Reply
	AskUser   Step = "ask_user"   // Question is put to the user, then Answer
	AskCritic Step = "ask_critic" // a turn in a fresh session that did not write the plan, then Reply
	Finished  Step = "finished"   // Draft is the plan
	Failed    Step = "failed"     // there is no plan; Rejected says why
)

// maxFailures is the number of consecutive unusable replies after which an agent is not asked again.
const maxFailures = 3

// Conversation is the state of a conversation. Start and Improve return new ones.
type Conversation struct {
	Idea    string    // what the user wants, in their words
	Source  string    // whose text Idea is, such as "issues of github:12"; "": the user's
	Old     plan.Plan // the plan to improve, if any
	Draft   Draft     // the last usable draft
	Answers []Answer  // the user's answers, in the order of the questions
	Remarks []Remark  // the critic's remarks
	// Rejected tells the agent why its last reply could not be used, "" if it could.
	Rejected string
	// Warning says what is missing in a finished plan: the review, or the revision after it.
	Warning string

	step           Step
	questions      []Question
	askedQuestions bool // the author has asked its questions
	reviewed       bool // the critic has replied
	failures       int
}

// Answer is the user's answer to a question.
type Answer struct{ Question, Text string }

// Start returns a conversation about a new plan.
func Start(idea string) Conversation { return Conversation{Idea: idea, step: AskAuthor} }

// Improve returns a conversation about an existing plan. Its done tasks do not change.
func Improve(idea string, old plan.Plan) Conversation {
	c := Start(idea)
	c.Old = old
	return c
}

// Plan returns the plan. The done tasks of an improved plan come first.
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

// Step returns what the conversation waits for.
func (c Conversation) Step() Step { return c.step }

// Question returns the next question for the user, with its number and the number of questions.
func (c Conversation) Question() (q Question, number, of int) {
	n := len(c.Answers)
	if n >= len(c.questions) {
		return Question{}, 0, 0
	}
	return c.questions[n], n + 1, len(c.questions)
}

// Answer adds the user's answer; an empty text accepts the proposal.
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

// Reply adds the last message of the agent that was asked.
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
	if c.askedQuestions {
		return c.rejected("the questions were asked before: decide what is open, and write the plan")
	}
	c.askedQuestions, c.Rejected, c.failures = true, "", 0
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

// rejected asks the same agent again, up to maxFailures times. After that, it ends the conversation
// with the last usable plan, if any.
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

// Stop ends the conversation with the last usable plan, if any, for example because the author
// cannot be asked again.
func (c Conversation) Stop(why string) Conversation {
	c.failures = maxFailures
	return c.rejected(why)
}
