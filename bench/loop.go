package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// small is a small repository with two agents for it: one works for a moment
// and claims nothing, the other kills the runner as soon as it is spawned.
type small struct {
	*lab
	repo, idler, killer string
}

func (l *lab) small(ctx context.Context) (small, error) {
	s := small{lab: l, repo: filepath.Join(l.dir, "small"), idler: filepath.Join(l.dir, "idler"), killer: filepath.Join(l.dir, "killer")}
	if _, err := os.Stat(s.repo); err == nil {
		return s, nil
	}
	if _, err := l.repository(ctx, "small", 100); err != nil {
		return s, err
	}
	idler := "#!/bin/sh\necho working >> d000/f00000.go\necho 'There is more to do.'\n"
	killer := "#!/bin/sh\nkill -9 $PPID\n"
	return s, errors.Join(os.WriteFile(s.idler, []byte(idler), 0o700), os.WriteFile(s.killer, []byte(killer), 0o700))
}

// run is pawl with an agent in a clean tree, for so many turns.
func (s small) run(home, agent string, turns int) work {
	clean := process{dir: s.repo, argv: []string{"git", "checkout", "-q", "."}}
	p := process{
		dir:  s.repo,
		env:  []string{"PAWL_HOME=" + home},
		exit: 10, // the limit of iterations
		argv: []string{
			s.pawl, "run", "work", "--agent", "command", "--agent-command", agent, "--branch", "current",
			"--max-iterations", strconv.Itoa(turns), "--yes", "--quiet",
		},
	}
	if agent == s.killer {
		p.exit = -1
	}
	return func(ctx context.Context) (time.Duration, error) {
		if _, err := clean.cpu(ctx); err != nil {
			return 0, err
		}
		return p.cpu(ctx)
	}
}

// spawn compares what it takes until the agent is spawned, which then ends the
// count, with an empty program.
func spawn(ctx context.Context, l *lab) (outcome, error) {
	s, err := l.small(ctx)
	if err != nil {
		return outcome{}, err
	}
	begin := func(ctx context.Context) (time.Duration, error) {
		home, err := os.MkdirTemp(l.dir, "spawn") // nothing is begun over a loop that was cut off
		if err != nil {
			return 0, err
		}
		return s.run(home, s.killer, 1)(ctx)
	}
	return pair{begin, l.nothing()}.within(ctx, l.runs, 60)
}

// betweenTurns compares what each further turn costs the runner with git status
// in the same repository. The agent's own part is taken off.
func betweenTurns(ctx context.Context, l *lab) (outcome, error) {
	const turns = 20
	s, err := l.small(ctx)
	if err != nil {
		return outcome{}, err
	}
	home := filepath.Join(l.dir, "between")
	agent := process{dir: s.repo, argv: []string{s.idler}}.cpu
	subject := func(ctx context.Context) (time.Duration, error) {
		var cost [3]time.Duration
		for i, part := range []work{s.run(home, s.idler, 1+turns), s.run(home, s.idler, 1), agent} {
			if cost[i], err = part(ctx); err != nil {
				return 0, err
			}
		}
		return (cost[0]-cost[1])/turns - cost[2], nil
	}
	reference := process{dir: s.repo, argv: []string{"git", "status", "--porcelain"}}
	return pair{subject, reference.cpu}.within(ctx, min(l.runs, 9), 10)
}

// longLoop compares what it costs to show a loop of very many iterations with
// an empty program.
func longLoop(ctx context.Context, l *lab) (outcome, error) {
	repo, long, err := l.long(ctx)
	if err != nil {
		return outcome{}, err
	}
	status := process{dir: repo, env: []string{"PAWL_HOME=" + homeOf(long)}, argv: []string{l.pawl, "status", long.ID, "--json"}}
	return pair{status.cpu, l.nothing()}.within(ctx, l.runs, 40)
}

// long makes a loop of very many iterations, once.
func (l *lab) long(ctx context.Context) (repo string, long *store.Loop, err error) {
	s, err := l.small(ctx)
	if err != nil {
		return "", nil, err
	}
	home := filepath.Join(l.dir, "long")
	kept := filepath.Join(l.dir, "long-loop")
	if id, err := os.ReadFile(kept); err == nil {
		return s.repo, store.Open(home).Loop(string(id)), nil
	}
	if _, err := s.run(home, s.idler, 12)(ctx); err != nil {
		return "", nil, err
	}
	loops, err := store.Open(home).Loops()
	if err != nil {
		return "", nil, err
	}
	id, err := lengthen(ctx, store.Open(home), loops[0], l.iterations)
	if err != nil {
		return "", nil, err
	}
	return s.repo, store.Open(home).Loop(id), os.WriteFile(kept, []byte(id), 0o600)
}

// homeOf is the PAWL_HOME of a loop.
func homeOf(l *store.Loop) string { return filepath.Dir(filepath.Dir(l.Dir)) }

// lengthen makes a loop like this one, but with so many iterations that are
// all like its second, and gives its id.
func lengthen(ctx context.Context, s *store.Store, like *store.Loop, iterations int) (string, error) {
	start, turn, err := retell(like, iterations)
	if err != nil {
		return "", err
	}
	spec, err := like.Spec()
	if err != nil {
		return "", err
	}
	long, err := s.Create(spec.Root, spec.Body)
	if err != nil {
		return "", err
	}
	owner, err := long.Own(ctx)
	if err != nil {
		return "", err
	}
	defer owner.Close()
	if _, err := owner.Append(start...); err != nil {
		return "", err
	}
	actions := lastAction(turn) - lastAction(start)
	for i := 1; i < iterations; i++ {
		if _, err := owner.Append(later(turn, (i-1)*actions)...); err != nil {
			return "", err
		}
	}
	told, mark, err := record.Load(long)
	if err != nil {
		return "", err
	}
	if n := told.State.Iteration; n < iterations {
		return "", fmt.Errorf("the long loop has %d iterations", n)
	}
	return long.ID, owner.Save(mark, told, nil)
}

// lastAction is the id of the action that the last of these events ends.
func lastAction(entries []journal.Entry) int {
	e, _ := entries[len(entries)-1].Data.(loop.Event)
	return e.ActionID
}

// later is a turn that ends the actions of a later one.
func later(turn []journal.Entry, by int) []journal.Entry {
	turn = slices.Clone(turn)
	for i := range turn {
		if e, ok := turn[i].Data.(loop.Event); ok && e.ActionID > 0 {
			e.ActionID += by
			turn[i].Data = e
		}
	}
	return turn
}

// retell takes from a loop's journal what stands before the end of its first turn, with
// another limit of iterations, and its second turn.
func retell(l *store.Loop, limit int) (start, turn []journal.Entry, err error) {
	var part []journal.Entry
	for r, err := range l.Records(journal.Mark{}) {
		if err != nil {
			return nil, nil, err
		}
		entry := journal.Entry{Type: r.Type, Data: r.Data}
		var e loop.Event
		if r.Type == memory.TypeEvent { // the others are the runner's own
			if err := json.Unmarshal(r.Data, &e); err != nil {
				return nil, nil, err
			}
			if s, ok := e.Payload.(loop.Started); ok {
				s.Policy.Limits.Iterations = limit + 1
				e.Payload = s
			}
			entry.Data = e
		}
		part = append(part, entry)
		switch {
		case e.Kind() != loop.KindTurnEnded:
		case start == nil:
			start, part = part, nil
		default:
			return start, part, nil
		}
	}
	return nil, nil, errors.New("the loop to lengthen has too few turns")
}

// many makes a home with many loops, copies of one, once.
func (l *lab) many(ctx context.Context) (repo, home string, err error) {
	s, err := l.small(ctx)
	home = filepath.Join(l.dir, "many")
	if err != nil {
		return "", "", err
	}
	if loops, _ := store.Open(home).Loops(); len(loops) == l.loops {
		return s.repo, home, nil
	}
	if _, err := s.run(home, s.idler, 1)(ctx); err != nil {
		return "", "", err
	}
	one, err := store.Open(home).Loops()
	if err != nil {
		return "", "", err
	}
	for i := range l.loops - 1 {
		id := fmt.Sprintf("copied-loop-%04x", i)
		if err := os.CopyFS(filepath.Join(filepath.Dir(one[0].Dir), id), os.DirFS(one[0].Dir)); err != nil {
			return "", "", err
		}
	}
	return s.repo, home, nil
}

// manyLoops compares pawl list with an empty program.
func manyLoops(ctx context.Context, l *lab) (outcome, error) {
	repo, home, err := l.many(ctx)
	if err != nil {
		return outcome{}, err
	}
	list := process{dir: repo, env: []string{"PAWL_HOME=" + home}, argv: []string{l.pawl, "list", "--json"}}
	return pair{list.cpu, l.nothing()}.within(ctx, l.runs, 40)
}
