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

// PlanLoopName is the format of loops over a plan of ralph-cli. A loop has it because of its plan's
// path. No session starts such a loop by itself.
const PlanLoopName = "plan-loop"

// IsPlanLoop reports whether a loop with this plan keeps the files of ralph-cli's plan loop. plan
// is relative to the root, with slashes.
func IsPlanLoop(plan string) bool { return planloop.IsPlanPath(plan) }

// PlanLoopFiles returns all paths that such a loop may write, relative to the root, with slashes.
// They are notes and not part of the work: a loop only commits those that git already tracks.
func PlanLoopFiles(plan string) []string {
	files := []string{path.Join(path.Dir(plan), planloop.ProgressFile)}
	for _, folder := range []string{path.Dir(plan), planloop.SharedDir} {
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
	noFiles // for the methods that do nothing
	LoopInfo
}

// OwnPaths omits tracked files in a loop that commits: a change in them would be part of no commit.
func (p planFiles) OwnPaths() []string {
	return slices.DeleteFunc(PlanLoopFiles(p.Spec.Plan), func(file string) bool {
		return !p.Spec.NoCommit && !slices.Contains(p.Spec.Untracked, file)
	})
}

// UpdateProgress writes the current story and its first commit, and logs the failed attempt.
func (p planFiles) UpdateProgress(m memory.Memory, now time.Time) error {
	attempts := p.failedAttempts(m, now)
	return errors.Join(p.writeCurrentStory(m), p.logFailures(attempts), p.updateProgressFile(m, attempts))
}

// SessionLeft logs that the story is open, and removes it as the current one.
func (p planFiles) SessionLeft(m memory.Memory, reason string, now time.Time) error {
	var err error
	if t, ok := m.State.Task(m.State.Current); ok && t.Status == loop.Open {
		err = p.logOpenStory(t, now, reason)
	}
	return errors.Join(err, p.removeCurrentStory())
}

// MarkEnded logs each story that was started and is open, and why the last attempt failed. It
// removes the current story.
func (p planFiles) MarkEnded(m memory.Memory, _ string) error {
	s := m.State
	now := cmp.Or(s.EndedAt, s.Now)
	attempts := p.failedAttempts(m, now)
	errs := []error{p.logFailures(attempts), p.updateProgressFile(m, attempts)}
	for _, t := range s.Tasks {
		if t.Turns > 0 && t.Status != loop.Done {
			errs = append(errs, p.logOpenStory(t, now, string(s.Outcome)))
		}
	}
	return errors.Join(append(errs, p.removeCurrentStory())...)
}

// EndLine returns the plan loop's last line.
func (planFiles) EndLine(s loop.State) string {
	switch {
	case s.Outcome == loop.Iterations:
		return fmt.Sprintf("Max iterations (%d) reached", s.Policy.Limits.Iterations)
	case !slices.ContainsFunc(s.Tasks, func(t loop.Task) bool { return t.Status != loop.Done }):
		return "All stories complete!"
	}
	return ""
}

// writeCurrentStory writes current-story and .checkpoint. It removes them for Pawl's own last task,
// which is no story; .checkpoint also if there is no commit.
func (p planFiles) writeCurrentStory(m memory.Memory) error {
	story := m.State.Current
	if !isStory(story) {
		return p.removeCurrentStory()
	}
	base := p.baseCommit(m.Base)
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
	if len(mine) > before { // first, so that the words are known as ours after a crash
		if err := atomicfile.SwapJSON(p.statePath(), mine); err != nil {
			return err
		}
	}
	return errors.Join(
		p.changeBoth(planloop.StoryFile, func([]byte) []byte { return planloop.FormatWord(story) }),
		p.changeBoth(planloop.BaseFile, func(old []byte) []byte {
			if base == "" {
				return emptyIfOneOf(old, mine)
			}
			return planloop.FormatWord(base)
		}))
}

// removeCurrentStory removes current-story and .checkpoint if this loop wrote them. Otherwise they
// may belong to another loop.
func (p planFiles) removeCurrentStory() error {
	mine, err := p.writtenWords()
	if err != nil {
		return err
	}
	ours := func(old []byte) []byte { return emptyIfOneOf(old, mine) }
	return errors.Join(p.changeBoth(planloop.StoryFile, ours), p.changeBoth(planloop.BaseFile, ours))
}

// emptyIfOneOf returns nil for a file that contains one of these words, else the file.
func emptyIfOneOf(file []byte, words []string) []byte {
	if slices.Contains(words, planloop.ParseWord(file)) {
		return nil
	}
	return file
}

// isStory reports whether a task is a story that ralph-cli's scripts can read. Pawl's own last task
// is not one.
func isStory(id string) bool { return id != loop.FinalTask && planloop.IsStoryID(id) }

// baseCommit returns the commit at which the story started, "" if git does not have it.
func (p planFiles) baseCommit(b memory.Base) string {
	if base := cmp.Or(b.TaskStart, b.Commit, p.Spec.StartCommit); !p.Spec.Shadow && planloop.IsCommitID(base) {
		return base
	}
	return ""
}

// writtenWords returns the words that this loop wrote, from its own folder.
func (p planFiles) writtenWords() ([]string, error) {
	var mine []string
	if err := atomicfile.ReadJSON(p.statePath(), &mine); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what the loop wrote into %s: %w", planloop.SharedDir, err)
	}
	return mine, nil
}

func (p planFiles) statePath() string { return filepath.Join(p.LoopDir, "plan-loop.json") }

// logOpenStory adds a line to sessions.log, once.
func (p planFiles) logOpenStory(t loop.Task, at time.Time, why string) error {
	if !isStory(t.ID) {
		return nil
	}
	line := planloop.OpenStory{Story: t.ID, At: at, Why: why}.Line()
	return p.changeBoth(planloop.SessionsFile, func(old []byte) []byte {
		if strings.Contains("\n"+string(old), "\n"+string(line)) {
			return old
		}
		return planloop.AppendEntry(old, line)
	})
}

// changeBoth changes the file with this name in both folders. If one fails, it still changes the
// other.
func (p planFiles) changeBoth(name string, to func(old []byte) []byte) error {
	var errs []error
	for _, file := range p.OwnPaths() {
		if path.Base(file) == name {
			errs = append(errs, p.changeFile(file, to))
		}
	}
	return errors.Join(errs...)
}

// maxPlanLoopFileBytes is the largest of these files that is read, in bytes.
const maxPlanLoopFileBytes = 8 << 20

// changeFile changes the content of a file. nil stands for no file, as input and output.
func (p planFiles) changeFile(file string, to func(old []byte) []byte) error {
	name, err := pathInProject(p.Root, file)
	if err != nil {
		return err
	}
	old, _, err := readFile(name, maxPlanLoopFileBytes)
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

// pathInProject returns the absolute path of a file in the project. It returns an error if a link
// in the path points outside the project.
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
		return "", failure.New(failure.Usage, "put a folder in its place", "%s points outside the project", folder)
	}
	return filepath.Join(dir, path.Base(file)), nil
}

// hasNoLinks reports whether all folders of a path exist and none is a link. This is the usual case
// and fast to check.
func hasNoLinks(root, folder string) bool {
	for ; folder != "."; folder = path.Dir(folder) {
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(folder))); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}
