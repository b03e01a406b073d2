// Package prompt writes the agent's prompt at the start of each turn: the goal, the current task, its
// gates, the last failures, the rest of the budget, and how to end the turn: claim or report blocked.
//
// There is one template for each situation. A user may replace any of them by a file of the same name
// (first.md, gate-failed.md …). Text from files of the repository or from programs (titles, details,
// test output) is hostile: it is shortened, cleaned of control characters, and put between fences that
// it cannot close. The user's text (goal, notes) is instruction and is only shortened.
//
//	set, err := prompt.New(nil)
//	text, err := set.Render(prompt.First, prompt.Data{Goal: "…", Promise: "DONE"})
package prompt

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Kind is a situation; its template is the file Kind + ".md".
type Kind string

// The situations.
const (
	First      Kind = "first"       // the first turn of a loop
	Next       Kind = "next"        // another task of the plan
	Fresh      Kind = "fresh"       // the same task in a fresh session, with the recap
	GateFailed Kind = "gate-failed" // the same session: a claim was refused because a gate fails
	Refused    Kind = "refused"     // the same session: all gates pass, but nothing proves the work, or no files changed
	Continue   Kind = "continue"    // the same session: the turn ended without a claim
	Restored   Kind = "restored"    // the tree was restored to the last verified commit
	Violation  Kind = "violation"   // the same session: a protected file was changed and restored
	Resumed    Kind = "resumed"     // the loop continues after an interruption
	Verify     Kind = "verify"      // the goal is that the gates pass, without a claim
	Isolated   Kind = "isolated"    // as Verify, in an isolated session beside the user's
	Answer     Kind = "answer"      // the result is text
	Explore    Kind = "explore"     // time-boxed, no claim to make
	Periodic   Kind = "periodic"    // the goal again, every so often
)

// Kinds lists all situations.
func Kinds() []Kind {
	return []Kind{First, Next, Fresh, GateFailed, Refused, Continue, Restored, Violation, Resumed, Verify, Isolated, Answer, Explore, Periodic}
}

// Data is the data of a template. Parts with empty fields are omitted.
type Data struct {
	Loop     string        // name of the loop
	Goal     string        // the user's goal, as written
	Overview string        // the plan's prose that belongs to no task
	Task     plan.Task     // the task of this turn; without a title the goal is the task
	Open     int           // number of open tasks after this one
	Gates    []gate.Gate   // gates that decide on a claim
	Failed   []gate.Result // the last failures
	Tested   string        // the agent's last test run, if it failed and Failed names no tests
	Evidence gate.Evidence // required evidence; "" = only passing gates
	OnlyText bool          // the claimed work changed only documents and comments
	Enough   string        // what the claim needs to be accepted; "" = a test that fails without the work
	Signs    []string      // lines of the claimed work that a reviewer should read first
	Needed   []string      // changed gate inputs without which the gates of the claim do not pass
	Reason   string        // of a refused claim, a restore, a violation or an interruption
	Recap    []string      // past iterations, from Recap
	Lessons  []string      // lessons of the loop and the project
	Notes    []string      // the user's messages since the last turn
	Budget   Budget
	Promise  string // the text of a claim; "" = DONE

	Source string // origin of the plan if others may have written it: "issues of …"; "" = the user's file

	Again     bool   // the goal is in the session's context already
	Retell    bool   // another tool's file drives the loop: repeat goal and task in every prompt; notes may be from anyone
	InSession bool   // the loop is in the user's session
	Alone     bool   // no user is present
	MayAsk    bool   // the user can answer questions, perhaps later
	Moved     string // why the loop moved into this session or out of the user's; "" = it did not, or the context has it
	NoCommit  bool   // the loop makes no commits
	Tools     bool   // the agent has Pawl's tools
	GoalFile  string // file with the full goal, if that is too long to repeat; "" = none
	Heading   string // heading of the failures in another tool's words; "" = Pawl's
	Marks     string // the plan's file, if the agent claims by ticking in it; "" = it must not tick

	Changes []string // for an isolated attempt: changes since the start of the task: "M main.go"; A added, D deleted
}

// Budget is the rest of the limits; 0 = unlimited.
type Budget struct {
	Iteration     int // this iteration, from 1; 0 = unknown
	MaxIterations int
	Time          time.Duration
	CostUSD       float64
}

// Limits of rendered prompts, in bytes. If a hook returns more than 10,000 characters to a user's
// session, the client shows the agent only their beginning.
const (
	MaxSize      = 96 << 10
	MaxInSession = 9500
	MaxContinue  = 8000 // of a prompt prepared for a user's session: the hook adds to it
)

func maxLength(k Kind, d Data) int {
	switch {
	case !d.InSession:
		return MaxSize
	case k == Continue || d.Again:
		return MaxContinue
	}
	return MaxInSession
}

//go:embed templates/*.md
var builtin embed.FS

// Set is a set of templates.
type Set struct{ t *template.Template }

// New returns the built-in templates with the user's in place of some, by file name (first.md). It
// returns an error with file and line for an unknown name, and for a template that does not parse or
// render.
func New(own map[string]string) (*Set, error) {
	t, err := template.New("").Option("missingkey=error").Funcs(funcs).ParseFS(builtin, "templates/*.md")
	if err != nil {
		return nil, fmt.Errorf("read built-in templates: %w", err)
	}
	s := &Set{t: t}
	for name, text := range own {
		if err := s.replace(name, text); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// maxTemplateBytes limits a template. Templates are in the work tree, where a file may be a pipe that
// never ends.
const maxTemplateBytes = 1 << 20

// ReadTemplates returns the templates in the folder dir of a file system, by file name. It checks them
// as New does. It does not use fs.Sub, whose file system opens a file to describe it, and so waits for
// a pipe.
func ReadTemplates(fsys fs.FS, dir string) (map[string]string, error) {
	files, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("read prompt templates: %w", err)
	}
	own := map[string]string{}
	for _, f := range files {
		name := path.Join(dir, f.Name())
		info, err := fs.Stat(fsys, name)
		if err == nil && (!info.Mode().IsRegular() || info.Size() > maxTemplateBytes) {
			err = fmt.Errorf("it is not a regular file of at most %d bytes", maxTemplateBytes)
		}
		var text []byte
		if err == nil {
			text, err = fs.ReadFile(fsys, name)
		}
		if err != nil {
			return nil, fmt.Errorf("read prompt template %s: %w", f.Name(), err)
		}
		own[f.Name()] = string(text)
	}
	_, err = New(own)
	return own, err
}

func (s *Set) replace(name, text string) error {
	kind, ok := strings.CutSuffix(name, ".md")
	if !ok || !slices.Contains(Kinds(), Kind(kind)) {
		return fmt.Errorf("read prompt templates: %s is not a situation; the names are %s", name, fileNames())
	}
	if _, err := s.t.New(name).Parse(text); err != nil {
		return fmt.Errorf("read prompt template: %w", err)
	}
	// A wrong field shows only when it is used: better now than at night.
	for _, d := range []Data{{}, sampleData()} {
		if _, err := s.Render(Kind(kind), d); err != nil {
			return err
		}
	}
	return nil
}

func fileNames() string {
	var out []string
	for _, k := range Kinds() {
		out = append(out, string(k)+".md")
	}
	return strings.Join(out, ", ")
}

// Render returns the prompt for a situation, within the length limit. It has no blank lines at its
// ends, and no two in a row outside of fences.
func (s *Set) Render(k Kind, d Data) (string, error) {
	if !slices.Contains(Kinds(), k) {
		return "", fmt.Errorf("render prompt: no situation is named %q", string(k))
	}
	var b strings.Builder
	if err := s.t.ExecuteTemplate(&b, string(k)+".md", withinBounds(d)); err != nil {
		return "", fmt.Errorf("render prompt: %w", err)
	}
	return cutMiddle(collapseBlankLines(b.String()), maxLength(k, d)), nil
}

// sampleData returns data with every field set, for a trial rendering.
func sampleData() Data {
	return Data{
		Loop: "brisk-otter", Goal: "goal", Overview: "overview", Open: 1, Reason: "reason", Enough: "enough", Promise: "DONE",
		Task:     plan.Task{ID: "1", Title: "title", Detail: "detail", Criteria: []string{"criterion"}, Scope: []string{"src/**"}},
		Gates:    []gate.Gate{{Name: "test", Command: "go test ./..."}},
		Failed:   []gate.Result{{Gate: "test", Status: gate.Fail, ExitCode: 1, Failing: []string{"T"}, FirstError: "e"}},
		Evidence: gate.Proven, Recap: []string{"recap"}, Lessons: []string{"lesson"}, Notes: []string{"note"},
		Budget:    Budget{Iteration: 1, MaxIterations: 2, Time: time.Hour, CostUSD: 1},
		InSession: true, Alone: true, Moved: "why", NoCommit: true, Tools: true, GoalFile: "goal.md", Heading: "# Fails", Tested: "`go test`: 1 failed", Signs: []string{"a.go:1 ends the process: os.Exit(0)"}, Marks: "feature_list.json", Source: "issues of github:label=ready",
		Changes: []string{"M main.go"},
	}
}

// maxRecapItems is the number of iterations that Recap lists one by one.
const maxRecapItems = 8

// Recap lists the newest iterations one by one and counts those before, for
// Data.Recap. Each item is one bounded line.
func Recap(history []loop.RecapLine) []string {
	var out []string
	old := max(0, len(history)-maxRecapItems)
	if old > 0 {
		out = append(out, fmt.Sprintf("%d earlier iterations", old))
	}
	for _, h := range history[old:] {
		text := fmt.Sprintf("iteration %d", h.Iteration)
		if h.Task != "" && h.Task != loop.GoalTask {
			text += ", task " + truncate(oneLine(h.Task), 40)
		}
		text += ": " + oneLine(h.What)
		if h.LastAgentLine != "" {
			text += "; " + oneLine(h.LastAgentLine)
		}
		out = append(out, oneLine(text))
	}
	return out
}
