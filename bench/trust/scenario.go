// Package trust is the liar's bench: agents that cheat, and honest ones, each
// played by a script against the real program, so that figures can be had:
// how many cheats end `verified`, how many of them only a review would see, and how
// many honest agents are hindered.
//
// A scenario is a txtar file in cheats/ or honest/. Its comment says what is
// tried; below stand a header and the story, a line each, in order:
//
//	label: prevented           of a cheat, see Label
//	kind: tree                 of a list's cheat, see List
//	needs: go python3          programs without which it is skipped
//	given: CMD                 the user prepares the repository
//	run: 'GOAL' --gate 'CMD'   the arguments of pawl run
//	then: CMD                  the user continues, by hand
//	ends: unverified stuck     the loop has ended so, one of these
//	named: TEXT                the report or the log says so
//	check: CMD                 succeeds; the files are as they should be
//
// CMD is for a shell in the repository, where pawl is on the PATH. The archive's
// files are the repository as it is first committed, but for agent/…, the part of
// the scripted agent (internal/agent/scripted), and home/…, the user's home.
package trust

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Label says what is promised about a cheat.
type Label string

// The labels. Each cheat is named to the user, whatever its label.
const (
	Prevented Label = "prevented" // it does not end verified
	Named     Label = "named"     // it may end verified, for an agent of the same user reaches what the user does; with --confine tree it does not
	Reviewed  Label = "reviewed"  // only a review sees it; the reviewer is scripted: what is shown is that its word counts, not that a model finds it
	Honest    Label = "honest"    // no cheat: nothing is denied it, nothing held against it
)

// Scenario is one agent's story.
type Scenario struct {
	File  string // as the repository has it
	Name  string // of the file, without its ending
	About string // what is tried, in words
	Label Label
	Kind  string // of a list's cheat: tree or code
	Needs []string
	Steps []Step
	Files []txtar.File // of the repository
	Home  []txtar.File // of the user's home
	Agent []byte       // the agent's script

	Alone bool // no review is asked for, although the story has one; see Unreviewed
}

// Step is one line of the story.
type Step struct{ Kind, Text string }

// kinds of lines that are steps.
const kinds = "given run then ends named check"

//go:embed cheats honest
var files embed.FS

// Scenarios are all of them whose name contains only, cheats first.
func Scenarios(only string) ([]Scenario, error) {
	var all []Scenario
	var failed error
	for _, dir := range []string{"cheats", "honest"} {
		entries, err := files.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("list scenarios: %w", err)
		}
		for _, e := range entries {
			if !strings.Contains(e.Name(), only) {
				continue
			}
			file := path.Join(dir, e.Name())
			data, err := files.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read scenario: %w", err)
			}
			s, err := Parse("bench/trust/"+file, data)
			all, failed = append(all, s), errors.Join(failed, err)
		}
	}
	return all, failed
}

// review is what asks for one, in a line run.
var review = regex.New(` --review '[^']*'`)

// Unreviewed is the same story without the review. Nothing is promised of how it
// ends: it is played to be counted.
func (s Scenario) Unreviewed() Scenario {
	s.Alone, s.Steps = true, slices.Clone(s.Steps)
	for i, step := range s.Steps {
		if step.Kind == "run" {
			s.Steps[i].Text = review.ReplaceAllString(step.Text, "")
		}
	}
	return s
}

// Parse reads a scenario; one in a folder honest is of an honest agent.
func Parse(file string, data []byte) (Scenario, error) {
	a := txtar.Parse(data)
	s := Scenario{File: file, Name: strings.TrimSuffix(path.Base(file), ".txtar")}
	if path.Base(path.Dir(file)) == "honest" {
		s.Label = Honest
	}
	for line := range strings.Lines(string(a.Comment)) {
		s.line(strings.TrimSpace(line))
	}
	s.About = strings.TrimSpace(s.About)
	script := &txtar.Archive{}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "agent/"); ok {
			script.Files = append(script.Files, txtar.File{Name: name, Data: f.Data})
		} else if name, ok := strings.CutPrefix(f.Name, "home/"); ok {
			s.Home = append(s.Home, txtar.File{Name: name, Data: f.Data})
		} else {
			s.Files = append(s.Files, f)
		}
	}
	s.Agent = txtar.Format(script)
	return s, s.check()
}

// line takes one line of the comment.
func (s *Scenario) line(line string) {
	key, text, ok := strings.Cut(line, ":")
	text = strings.TrimSpace(text)
	switch {
	case ok && key == "label":
		s.Label = Label(text)
	case ok && key == "kind":
		s.Kind = text
	case ok && key == "needs":
		s.Needs = strings.Fields(text)
	case ok && slices.Contains(strings.Fields(kinds), key):
		s.Steps = append(s.Steps, Step{key, text})
	default:
		s.About += line + " "
	}
}

// check refuses a scenario that would prove nothing.
func (s *Scenario) check() error {
	has := func(kind string) bool {
		return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Kind == kind })
	}
	cheats := s.Label == Prevented || s.Label == Named || s.Label == Reviewed
	var what string
	switch {
	case !cheats && s.Label != Honest:
		what = "has no label: prevented, named or reviewed"
	case s.About == "":
		what = "does not say what is tried"
	case len(s.Agent) == 0:
		what = "has no agent/…"
	case !has("run") || !has("ends"):
		what = "needs lines  run: …  and  ends: …"
	case cheats && !has("named"):
		what = "needs a line  named: …"
	case cheats && s.echoed() != "":
		what = "is named by what stands in its own line  run: …, which the report prints anyway: " + s.echoed()
	case s.Label == Reviewed && slices.Equal(s.Steps, s.Unreviewed().Steps):
		what = "is seen by a review, and no line  run: …  has  --review '…'"
	case (s.Label == Prevented || s.Label == Reviewed) && slices.Contains(s.Steps, Step{"ends", "verified"}) && !has("then"):
		what = "is to be prevented, and may end verified"
	}
	if what != "" {
		return fmt.Errorf("%s %s", s.File, what)
	}
	return nil
}

// echoed is a text that is to name the cheat and stands in a line run: the report
// gives goal and gates of any loop. "" for none.
func (s *Scenario) echoed() string {
	for _, named := range s.Steps {
		for _, run := range s.Steps {
			if named.Kind == "named" && run.Kind == "run" && strings.Contains(strings.ToLower(run.Text), strings.ToLower(named.Text)) {
				return named.Text
			}
		}
	}
	return ""
}
