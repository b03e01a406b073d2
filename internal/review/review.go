// Package review lets another agent review work that passes the gates, and decides whether its answer
// counts.
//
//	a, err := reviewer.Ask(ctx, review.Request{Gate: g, Base: base, Tree: tree, Goal: "…"})
//	a.Result.Status // pass, fail, or unknown: the reviewer is not sure, or its answer does not count
//
// A reviewer always has a fresh session, never that of the agent that did the work. Its prompt
// contains the goal, the task, the diff, the results of the gates, and the rubric, but nothing that
// the agent says about its work. It can only read the work tree. Work passes only if the answer refers
// to files and lines that exist (core/gate decides that). If the answer does not count, a reviewer is
// asked once more. Definite answers about a tree are cached, because reviews cost money.
package review

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/prompt"
)

// Default limits of one review.
const (
	MaxCostUSD = 1.00
	Timeout    = 10 * time.Minute
)

// maxAttempts limits how often reviewers are asked until an answer counts.
const maxAttempts = 2

// Reviewer asks agents for reviews, one at a time.
type Reviewer struct {
	Repo   *git.Repo // of the work tree that is reviewed
	Dir    string    // folder for cached answers
	Marker string    // value of PAWL_LOOP for the agent's processes
	// Agent returns the agent that a gate names, and the options of its session.
	Agent func(gate.Gate) (agent.Agent, agent.Options, error)
	// Redact removes secrets from the prompt; nil = no redaction.
	Redact func(string) string
}

// Request is work to be reviewed.
type Request struct {
	Gate       gate.Gate
	Base, Tree string      // the trees before and after the work; the work tree has the latter
	Goal       string      // as the user wrote it
	Tasks      []plan.Task // claimed tasks, none if the goal is the task
	Answer     string      // the result of a goal whose result is text; then no files changed
	Receipts   []prompt.Receipt
	Labels     []string
	Tests      []string // old tests that must be changed for the gates to pass
	MaxCostUSD float64  // rest of the loop's budget, 0 = unlimited
	LogDir     string   // receives prompt, stream and answer
	// Guard decides which files the agent may read; nil = all. The agent can do nothing else.
	Guard func(toolcall.Call) agent.Verdict
}

// Answer is the result of a review.
type Answer struct {
	Result     gate.Result
	Findings   []string // "file:line: what", the worst first
	Approved   []string // changed tests that the reviewer accepts
	Usage      loop.Usage
	RetryLater bool      // the reviewer could not be asked now
	RetryAfter time.Time // when to retry, zero if unknown
	Sessions   []string  // ids of the sessions that were asked

	costly bool // unknown, and asking again would cost as much again
}

// Ask returns the answer of the gate's agent, or a cached one. An error means that ctx ended or that
// something other than the agent failed.
func (r *Reviewer) Ask(ctx context.Context, q Request) (Answer, error) {
	text, err := r.promptData(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	key := r.cacheKey(q, text)
	if a, ok := r.loadAnswer(key); ok {
		a.Result.Gate, a.Result.Cached, a.Result.Tree = q.Gate.Name, true, q.Tree
		return a, nil
	}
	a, err := r.askUntilAnswered(ctx, q, text)
	if err == nil && a.Result.Status != gate.Unknown {
		r.saveAnswer(key, a)
	}
	return a, err
}

// askUntilAnswered asks until an answer counts, a bounded number of times.
func (r *Reviewer) askUntilAnswered(ctx context.Context, q Request, d prompt.ReviewData) (Answer, error) {
	began, left := time.Now(), costLimit(q)
	var a Answer
	for n := 1; ; n++ {
		one, err := r.askOnce(ctx, q, d, left)
		if err != nil {
			return Answer{}, err
		}
		one.Usage, one.Sessions = a.Usage.Add(one.Usage), append(a.Sessions, one.Sessions...)
		a = one
		left = costLimit(q) - a.Usage.CostUSD
		if a.Result.Status != gate.Unknown || a.RetryLater || a.costly || n == maxAttempts || left <= 0 {
			break
		}
		d.Again = a.Result.Reason
	}
	res := &a.Result
	res.Gate, res.Kind, res.Command, res.ExitCode, res.Tree = q.Gate.Name, gate.ByReview, "review: "+plan.OneLine(q.Gate.Rubric, 200), -1, q.Tree
	res.Duration = time.Since(began)
	return a, nil
}

// costLimit returns the cost limit of the review, in dollars.
func costLimit(q Request) float64 {
	most := cmp.Or(q.Gate.MaxCostUSD, MaxCostUSD)
	if q.MaxCostUSD > 0 {
		most = min(most, q.MaxCostUSD)
	}
	return most
}

// askOnce asks one reviewer.
func (r *Reviewer) askOnce(ctx context.Context, q Request, d prompt.ReviewData, most float64) (Answer, error) {
	text, err := prompt.Review(d)
	if err != nil {
		return Answer{}, err
	}
	log, err := r.logPrompt(q, text)
	if err != nil {
		return Answer{}, err
	}
	who, o, err := r.Agent(q.Gate)
	if err != nil {
		return Answer{}, fmt.Errorf("find the reviewer of %s: %w", q.Gate.Name, err)
	}
	o.Dir, o.Resume, o.PriorCostUSD, o.Marker, o.LogPath = r.Repo.Root(), "", 0, r.Marker, log+".jsonl.gz"
	o.ReadOnly, o.Schema, o.CheckTool = true, gate.OpinionSchema, agent.ReadOnly(q.Guard)
	s, failed := who.Start(ctx, o)
	switch {
	case failed != nil && ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case failed != nil:
		a := unknownAnswer("the reviewer could not be started: " + failed.Error())
		a.RetryLater = true
		return a, nil //nolint:nilerr // it is the answer
	}
	res, err := s.Turn(ctx, agent.Turn{
		Prompt: text, Timeout: cmp.Or(q.Gate.Timeout, Timeout), MaxCostUSD: most, LogPath: log + ".jsonl.gz",
		Final: func(string) bool { return true },
	}, nil)
	closed := s.Close()
	switch {
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case err != nil:
		return Answer{}, fmt.Errorf("ask %s for a review: %w", who.Name(), err)
	case closed != nil:
		return Answer{}, fmt.Errorf("end the review: %w", closed)
	}
	if err := os.WriteFile(log+".answer", []byte(r.redacted(res.Text)+"\n"), 0o600); err != nil {
		return Answer{}, fmt.Errorf("keep the review: %w", err)
	}
	a := r.readAnswer(ctx, q, res)
	a.Usage, a.Sessions = res.Usage, []string{cmp.Or(res.SessionID, s.ID())}
	return a, nil
}

// readAnswer reads the result of a reviewer's turn.
func (r *Reviewer) readAnswer(ctx context.Context, q Request, res agent.Result) Answer {
	if f := res.Failure; f != nil {
		return failedAnswer(*f)
	}
	o, err := gate.ParseOpinion(res.Text)
	if err != nil {
		return unknownAnswer(err.Error())
	}
	status, reason := o.Assess(func(where string) bool { return r.exists(ctx, q, where) })
	a := Answer{Result: gate.Result{Status: status, Reason: r.redacted(reason)}}
	for _, f := range o.Findings {
		a.Findings = append(a.Findings, r.redacted(plan.OneLine(f.String(), 400)))
	}
	if status == gate.Pass && q.Gate.ApprovesTests {
		a.Approved = o.Approvals(q.Tests)
	}
	if status == gate.Fail {
		a.Result.FirstError, a.Result.Tail = a.Result.Reason, strings.Join(a.Findings, "\n")
	}
	return a
}

// failedAnswer returns the answer for a failed turn. It is asked again only if the failure passes
// by itself, not if a retry would cost as much.
func failedAnswer(f loop.Failure) Answer {
	a := unknownAnswer("the review was cut off: " + f.Message)
	switch f.Class {
	case loop.UsageLimit, loop.Overloaded, loop.Network:
		a.RetryLater, a.RetryAfter = true, f.Until
	case loop.OverBudget, loop.TimedOut, loop.Silent, loop.Login, loop.Billing:
		a.costly = true
	}
	return a
}

func unknownAnswer(reason string) Answer {
	return Answer{Result: gate.Result{Status: gate.Unknown, Reason: plan.OneLine(reason, 400)}}
}

// exists reports whether something that a reviewer refers to exists.
func (r *Reviewer) exists(ctx context.Context, q Request, where string) bool {
	where = strings.TrimPrefix(strings.TrimSpace(where), "receipt ")
	if slices.ContainsFunc(q.Receipts, func(c prompt.Receipt) bool { return c.ID == where }) {
		return true
	}
	file, to, ok := gate.ParsePlace(where)
	if !ok {
		return false
	}
	if file == "answer" && q.Answer != "" {
		return to <= countLines(q.Answer)
	}
	if filepath.IsAbs(file) {
		rel, err := filepath.Rel(r.Repo.Root(), file)
		if err != nil {
			return false
		}
		file = rel
	}
	file = filepath.ToSlash(filepath.Clean(filepath.FromSlash(file)))
	text, err := r.Repo.Show(ctx, q.Tree, file)
	return err == nil && to <= countLines(string(text))
}

func countLines(s string) int { return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1 }

func (r *Reviewer) redacted(s string) string {
	if r.Redact == nil {
		return s
	}
	return r.Redact(s)
}
