package statefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/planloop"
)

// PlanLoopName is the format of loops over a plan of ralph-cli's: a loop has it
// because of where its plan lies, and no session ever begins one by itself.
const PlanLoopName = "plan-loop"

// PlanLoop reports whether a loop with this plan (relative to the root, with slashes)
// keeps the files of ralph-cli's plan loop.
func PlanLoop(plan string) bool { return planloop.IsPlanPath(plan) }

// PlanLoopFiles are all that it may keep, relative to the root, with slashes. They
// are notes about the work and no part of it: a loop commits those alone that git
// tracks already.
func PlanLoopFiles(plan string) []string {
	files := []string{path.Join(path.Dir(plan), planloop.ProgressFile)}
	for _, folder := range []string{path.Dir(plan), planloop.Shared} {
		for _, name := range []string{planloop.StoryFile, planloop.BaseFile, planloop.SessionsFile, planloop.FailuresFile} {
			files = append(files, path.Join(folder, name))
		}
	}
	return files
}

type planLoop struct{}

func (planLoop) Name() string { return PlanLoopName }

func (planLoop) Find(Place) string { return "" }

func (planLoop) Propose(string, Place, SessionInfo) (Proposal, error) {
	return Proposal{Skip: true}, nil
}

func (planLoop) Follow(o LoopInfo) Files { return planFiles{LoopInfo: o} }

type planFiles struct {
	noFiles // what it neither hears nor says
	LoopInfo
}

// OwnPaths leaves out what git tracks in a loop that commits: writing to it would leave
// a change behind that belongs to no commit.
func (p planFiles) OwnPaths() []string {
	return slices.DeleteFunc(PlanLoopFiles(p.Spec.Plan), func(file string) bool {
		return !p.Spec.NoCommit && !slices.Contains(p.Spec.Untracked, file)
	})
}

// UpdateProgress names the story at work and the commit that it began with, and tells of
// the try that failed.
func (p planFiles) UpdateProgress(m memory.Memory, now time.Time) error {
	tries := p.failedTries(m, now)
	return errors.Join(p.writeCurrentStory(m), p.logFailures(tries), p.updateProgressFile(m, tries))
}

// SessionLeft tells that the story was left open; nobody works on it any more.
func (p planFiles) SessionLeft(m memory.Memory, reason string, now time.Time) error {
	var err error
	if t, ok := m.State.Task(m.State.Current); ok && t.Status == loop.Open {
		err = p.logOpenStory(t, now, reason)
	}
	return errors.Join(err, p.removeCurrentStory())
}

// MarkEnded tells of each story that was begun and is still open, why the last try
// failed, and takes away what says that a story is at work.
func (p planFiles) MarkEnded(m memory.Memory, _ string) error {
	s := m.State
	now := cmp.Or(s.EndedAt, s.Now)
	tries := p.failedTries(m, now)
	errs := []error{p.logFailures(tries), p.updateProgressFile(m, tries)}
	for _, t := range s.Tasks {
		if t.Turns > 0 && t.Status != loop.Done {
			errs = append(errs, p.logOpenStory(t, now, string(s.Outcome)))
		}
	}
	return errors.Join(append(errs, p.removeCurrentStory())...)
}

// EndLine are the words of the loop's last line.
func (planFiles) EndLine(s loop.State) string {
	switch {
	case s.Outcome == loop.Iterations:
		return fmt.Sprintf("Max iterations (%d) reached", s.Policy.Limits.Iterations)
	case !slices.ContainsFunc(s.Tasks, func(t loop.Task) bool { return t.Status != loop.Done }):
		return "All stories complete!"
	}
	return ""
}

// writeCurrentStory writes current-story and .checkpoint. Where there is no story (Pawl's own
// last task), or no commit, they are taken away.
func (p planFiles) writeCurrentStory(m memory.Memory) error {
	story := m.State.Current
	if !isStory(story) {
		return p.removeCurrentStory()
	}
	base := p.base(m.Base)
	mine, err := p.writtenWords()
	if err != nil {
		return err
	}
	before := len(mine)
	for _, word := range []string{story, base} {
		if word != "" && !slices.Contains(mine, word) {
			mine = append(mine, word)
		}
	}
	if len(mine) > before { // remembered first: what is written must be known to be ours
		if err := atomicfile.SwapJSON(p.statePath(), mine); err != nil {
			return err
		}
	}
	return errors.Join(
		p.changeBoth(planloop.StoryFile, func([]byte) []byte { return planloop.Word(story) }),
		p.changeBoth(planloop.BaseFile, func(old []byte) []byte {
			if base == "" {
				return removeWords(old, mine)
			}
			return planloop.Word(base)
		}))
}

// removeCurrentStory takes current-story and .checkpoint away, where they say what this loop
// wrote: others may be another loop's by now.
func (p planFiles) removeCurrentStory() error {
	mine, err := p.writtenWords()
	if err != nil {
		return err
	}
	ours := func(old []byte) []byte { return removeWords(old, mine) }
	return errors.Join(p.changeBoth(planloop.StoryFile, ours), p.changeBoth(planloop.BaseFile, ours))
}

// removeWords is a file of one word that is not to say any of these, nil for no file.
func removeWords(file []byte, words []string) []byte {
	if slices.Contains(words, planloop.Value(file)) {
		return nil
	}
	return file
}

// isStory: Pawl's own last task is none, and what the scripts could not read is
// not written.
func isStory(id string) bool { return id != loop.FinalTask && planloop.IsStoryID(id) }

// base is the commit that the story began with, "" where git knows of none.
func (p planFiles) base(b memory.Base) string {
	if base := cmp.Or(b.TaskStart, b.Commit, p.Spec.StartCommit); !p.Spec.Shadow && planloop.IsCommitID(base) {
		return base
	}
	return ""
}

// writtenWords are the words that this loop has written, as its own folder remembers.
func (p planFiles) writtenWords() ([]string, error) {
	var mine []string
	if err := atomicfile.ReadJSON(p.statePath(), &mine); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what the loop wrote into %s: %w", planloop.Shared, err)
	}
	return mine, nil
}

func (p planFiles) statePath() string { return filepath.Join(p.LoopDir, "plan-loop.json") }

// logOpenStory adds a line to sessions.log, once.
func (p planFiles) logOpenStory(t loop.Task, at time.Time, why string) error {
	if !isStory(t.ID) {
		return nil
	}
	line := planloop.Incomplete{Story: t.ID, At: at, Why: why}.Line()
	return p.changeBoth(planloop.SessionsFile, func(old []byte) []byte {
		if strings.Contains("\n"+string(old), "\n"+string(line)) {
			return old
		}
		return planloop.Append(old, line)
	})
}

// changeBoth has the file of that name, in both folders, made into something else. Where
// one cannot be, the other is all the same.
func (p planFiles) changeBoth(name string, to func(old []byte) []byte) error {
	var errs []error
	for _, file := range p.OwnPaths() {
		if path.Base(file) == name {
			errs = append(errs, p.change(file, to))
		}
	}
	return errors.Join(errs...)
}

// maxPlanFile is the largest of the files that is read, in bytes.
const maxPlanFile = 8 << 20

// change makes a file into something else: nil is not a file, to and from.
func (p planFiles) change(file string, to func(old []byte) []byte) error {
	name, err := pathInProject(p.Root, file)
	if err != nil {
		return err
	}
	old, _, err := read(name, maxPlanFile)
	absent := errors.Is(err, fs.ErrNotExist)
	if err != nil && !absent {
		return err
	}
	switch now := to(old); {
	case now == nil && absent, !absent && now != nil && bytes.Equal(now, old):
		return nil
	case now == nil:
		return os.Remove(name)
	default:
		return atomicfile.Write(name, now, 0o644)
	}
}

// pathInProject is the absolute path of a file in the project, whose folder lies there
// with every link followed: the project may be anybody's.
func pathInProject(root, file string) (string, error) {
	folder := path.Dir(file)
	if hasNoLinks(root, folder) {
		return filepath.Join(root, filepath.FromSlash(file)), nil
	}
	base, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(base, filepath.FromSlash(folder)))
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(base, dir); err != nil || !filepath.IsLocal(rel) {
		return "", failure.New(failure.Usage, "put a folder in its place", "%s leads out of the project", folder)
	}
	return filepath.Join(dir, path.Base(file)), nil
}

// hasNoLinks: there are folders on the way, and no links. Most often so, and cheap to
// see.
func hasNoLinks(root, folder string) bool {
	for ; folder != "."; folder = path.Dir(folder) {
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(folder))); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}
