package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/store"
)

// Guard is what the settings and the plan add to the guard's rules, as it was at the
// loop's start.
type Guard struct {
	Allow    []guard.Pattern `json:"allow,omitempty"` // the settings' own
	Deny     []guard.Pattern `json:"deny,omitempty"`
	Ask      []guard.Pattern `json:"ask,omitempty"`
	Branches []string        `json:"branches,omitempty"` // protected, beside the default one
	Marked   string          `json:"marked,omitempty"`   // the plan, of which the agent may change the marks alone, relative to the root, slashes; "" = there is none, or they are how it claims
}

// Places are the folders that a loop's guard must know, all absolute.
type Places struct {
	Root  string // the work tree that the agent works in
	State string // Pawl's own folder, closed to the agent
	Home  string // the user's
	Temp  string // for temporary files: may be written although it lies outside
}

// Turn is what the guard's rules depend on besides.
type Turn struct {
	Task     string   // at work; "" = none that has a scope
	Judges   []string // see Judges
	Approved []string // files that a user lets the agent change, see loop.State
}

// Rules are what the guard holds the loop's agent to in a turn.
func (s Spec) Rules(p Places, t Turn) guard.Rules {
	below := func(file string) string { return filepath.Join(p.Root, filepath.FromSlash(file)) }
	r := guard.Rules{
		Root: p.Root, StateDir: p.State, Home: p.Home, Branch: s.Branch, Scope: s.scope(t),
		ProtectedBranches: append([]string{s.Home, "main", "master"}, s.Guard.Branches...),
		AllowWriteOutside: []string{p.Temp, Resolved(p.Temp)},
		Allow:             s.Guard.Allow, Deny: s.Guard.Deny, Ask: s.Guard.Ask,
		Tools: s.Tools, Resolve: Resolved, There: there, Head: Head,
	}
	addTemporary(&r)
	for _, file := range t.Judges {
		r.Protected = append(r.Protected, below(file))
	}
	if s.Guard.Marked != "" {
		r.Marked = []string{below(s.Guard.Marked)}
	}
	return r
}

// addTemporary adds the system's own folder for temporary files, to which agents write
// by habit whatever the environment names. If the work tree lies there itself, other
// people's may lie beside it: then only what is new there is the agent's.
func addTemporary(r *guard.Rules) {
	const shared, real = "/tmp", "/private/tmp" // as macOS has it
	if runtime.GOOS == "windows" {
		return
	}
	dirs := []string{shared, Resolved(shared)}
	if root := filepath.ToSlash(r.Root) + "/"; strings.HasPrefix(root, shared+"/") || strings.HasPrefix(root, real+"/") {
		r.Shared = dirs
	} else {
		r.AllowWriteOutside = append(r.AllowWriteOutside, dirs...)
	}
}

// scope is what the plan says that the task may change, and what a user approved
// by name since.
func (s Spec) scope(t Turn) []string {
	scope := slices.Clone(s.Scopes[t.Task])
	if len(scope) == 0 {
		return nil
	}
	for _, file := range t.Approved {
		if file != loop.AllTests {
			scope = append(scope, "./"+file)
		}
	}
	return scope
}

// GuardRules are the rules of a loop that lives in a session, at its root, in a
// turn of the loop's or in one of the user's own, which knows no task. The hook
// judges every tool call, so no more of the loop is read than they need.
func GuardRules(l *store.Loop, p Places, theirs bool) (guard.Rules, error) {
	var kept struct {
		Root string `json:"root"`
		Spec struct {
			Branch string              `json:"branch"`
			Home   string              `json:"home"`
			Guard  Guard               `json:"guard"`
			Scopes map[string][]string `json:"scopes"`
			Tools  bool                `json:"tools"`
		} `json:"spec"`
	}
	if err := l.SpecInto(&kept); err != nil {
		return guard.Rules{}, err
	}
	p.Root = kept.Root
	s := Spec{Branch: kept.Spec.Branch, Home: kept.Spec.Home, Guard: kept.Spec.Guard, Scopes: kept.Spec.Scopes, Tools: kept.Spec.Tools}
	judges, err := Judges(l)
	t := Turn{Judges: judges}
	if err == nil && len(s.Scopes) > 0 && !theirs {
		var m Memory
		m, _, err = Remember(l)
		t.Task, t.Approved = m.State.Current, m.State.Approved
	}
	return WithPast(s.Rules(p, t), l), err
}

func judgesPath(l *store.Loop) string { return filepath.Join(l.Dir, "judges.json") }

// KeepJudges notes, once, the files that judge the loop's work as a whole, by path
// relative to the root, slashes: its guard lets nobody edit them.
func KeepJudges(l *store.Loop, paths []string) error {
	if _, err := os.Lstat(judgesPath(l)); err == nil {
		return nil
	}
	return RekeepJudges(l, paths)
}

// RekeepJudges notes them anew: a user's approval takes files out, a rejection puts
// them back.
func RekeepJudges(l *store.Loop, paths []string) error {
	data, err := json.Marshal(paths)
	if err == nil {
		err = atomicfile.Write(judgesPath(l), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("record protected files: %w", err)
	}
	return nil
}

// Judges are the files that KeepJudges noted; none before the loop has begun.
func Judges(l *store.Loop) ([]string, error) {
	data, err := atomicfile.Read(judgesPath(l), atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var paths []string
	if err == nil {
		err = json.Unmarshal(data, &paths)
	}
	if err != nil {
		return nil, fmt.Errorf("read protected files: %w", err)
	}
	return paths, nil
}

// WorkOf lists the globs of what these tasks may change without approval: what the user
// calls work, and their scopes.
func (s Spec) WorkOf(tasks []string) []string {
	globs := slices.Clone(s.Work)
	for _, id := range tasks {
		globs = append(globs, s.Scopes[id]...)
	}
	return globs
}

// Asked is the text of what these tasks ask for, of all without any: the goal, and the
// titles of the plan's tasks.
func (s Spec) Asked(tasks []string) string {
	text := s.Prompt
	for _, t := range s.Tasks {
		if len(tasks) == 0 || slices.Contains(tasks, t.ID) {
			text += "\n" + t.Title
		}
	}
	return text
}

// MayChangeTests tells whether the user lets one of these tasks change old tests.
func (s Spec) MayChangeTests(tasks []string) bool {
	return slices.ContainsFunc(s.TestChangeTasks, func(g string) bool { return g == "*" || slices.Contains(tasks, g) })
}
