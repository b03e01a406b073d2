// Package planner lets agents write a plan. It performs the conversation that core/draft decides.
//
//	c, err := planner.Make(ctx, draft.Start("export as CSV"), planner.Options{Agent: claude.Agent{}, Ask: ask, …})
//	c.Plan()
//
// The author has one session for the whole conversation. Each critique has a fresh session, so that
// nobody reviews their own plan. Both agents can only read. Time and cost are limited.
package planner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/draft"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/prompt"
)

// Options of a conversation.
type Options struct {
	Agent      agent.Agent
	Session    agent.Options                          // Dir is the repository's root; what makes it read-only is set here
	Guard      func(toolcall.Call) agent.Verdict      // answers what an agent wants to read, nil allows it
	Gates      []string                               // commands that seem to run the tests
	MaxCostUSD float64                                // of the whole conversation, 0 = not limited
	Timeout    time.Duration                          // of one reply, 0 = none
	Ask        func(NumberedQuestion) (string, error) // asks the user; an empty answer accepts the proposal
	OnAsk      func(draft.Conversation)               // called before an agent is asked; may be nil
	OnEvent    func(agent.Event)                      // called with what the agent does; may be nil
}

// NumberedQuestion is question Number of Of.
type NumberedQuestion struct {
	draft.Question
	Number, Of int
}

// ErrNoPlan is the error of a conversation that ended without a plan.
var ErrNoPlan = errors.New("no plan was written")

// Make holds a conversation to its end. It returns an error that wraps ErrNoPlan if
// the agent gave no usable plan, an *AgentError if it could not be asked, and the
// context's cause if that ended. usage is what it cost, also with an error.
func Make(ctx context.Context, begun draft.Conversation, o Options) (c draft.Conversation, usage loop.Usage, err error) {
	p := &conversation{o: o}
	defer func() { err = errors.Join(err, p.close()) }()
	c = begun
	for {
		switch c.Step() {
		case draft.AskUser:
			q, number, of := c.Question()
			text, err := o.Ask(NumberedQuestion{q, number, of})
			if err != nil {
				return c, p.usage, err
			}
			c = c.Answer(text)
		case draft.AskAuthor, draft.AskCritic:
			if c, err = p.ask(ctx, c); err != nil {
				return c, p.usage, err
			}
		case draft.Finished:
			return c, p.usage, nil
		case draft.Failed:
			return c, p.usage, fmt.Errorf("%w: %s", ErrNoPlan, c.Rejected)
		}
	}
}

// AgentError says why an agent could not be asked.
type AgentError struct{ loop.Failure }

func (e *AgentError) Error() string { return e.Message }

type conversation struct {
	o      Options
	author agent.Session
	usage  loop.Usage
}

// ask asks one agent. If that fails when there is a plan already, the plan stays without the review
// or the revision.
func (p *conversation) ask(ctx context.Context, c draft.Conversation) (draft.Conversation, error) {
	reply, err := p.reply(ctx, c)
	if err == nil {
		return c.Reply(reply), nil
	}
	if failed, ok := errors.AsType[*AgentError](err); ok && len(c.Draft.Tasks) > 0 {
		return c.Stop(failed.Message), nil
	}
	return c, err
}

func (p *conversation) reply(ctx context.Context, c draft.Conversation) (answer string, err error) {
	critic := c.Step() == draft.AskCritic
	first := p.author == nil
	text, err := prompt.Draft(c, p.o.Gates, first)
	if err != nil {
		return "", err
	}
	if p.o.OnAsk != nil {
		p.o.OnAsk(c)
	}
	left := p.o.MaxCostUSD - p.usage.CostUSD
	if p.o.MaxCostUSD > 0 && left <= 0 {
		return "", &AgentError{loop.Failure{Class: loop.OverBudget, Message: fmt.Sprintf("its cost limit of $%.2f is reached", p.o.MaxCostUSD)}}
	}
	s := p.author
	switch {
	case critic:
		if s, err = p.start(ctx, draft.CritiqueSchema); err == nil {
			defer func() { err = errors.Join(err, s.Close()) }()
		}
	case first:
		s, err = p.start(ctx, draft.Schema)
		p.author = s
	}
	if err != nil {
		return "", err
	}
	res, err := s.Turn(ctx, agent.Turn{
		Prompt: text, Timeout: p.o.Timeout, MaxCostUSD: max(0, left), Final: func(string) bool { return true },
	}, func(e agent.Event) {
		if p.o.OnEvent != nil {
			p.o.OnEvent(e)
		}
	})
	p.usage = p.usage.Add(res.Usage)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("ask %s for a plan: %w", p.o.Agent.Name(), err)
	case res.Failure != nil:
		return "", &AgentError{*res.Failure}
	}
	return res.Text, nil
}

func (p *conversation) start(ctx context.Context, schema string) (agent.Session, error) {
	o := p.o.Session
	o.ReadOnly, o.Schema, o.CheckTool = true, schema, agent.ReadOnly(p.o.Guard)
	s, err := p.o.Agent.Start(ctx, o)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("start %s: %w", p.o.Agent.Name(), err)
	}
	return s, nil
}

func (p *conversation) close() error {
	if p.author == nil {
		return nil
	}
	return p.author.Close()
}
