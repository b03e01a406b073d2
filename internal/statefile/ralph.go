package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
)

// ralphLoop is the format of the official ralph-loop plugin. The journal has the iteration: a
// counter that someone edits is overwritten.
type ralphLoop struct{}

// RalphLoopName is the name of that format.
const RalphLoopName = "ralph-loop"

func (ralphLoop) Name() string { return RalphLoopName }

func (ralphLoop) Find(p Place) string { return existingPath(p.RalphLoopPath()) }

func (ralphLoop) Propose(path string, p Place, c SessionInfo) (Proposal, error) {
	f, info, err := readRalph(path)
	if err != nil {
		return Proposal{}, err
	}
	about := c.fileContext(DisplayPath(p.Root, path), IsRalphPluginEnabled(p.Root, p.ClientConfig))
	about.Modified = info.ModTime()
	if about.Tracked, err = c.Tracked(path); err != nil {
		return Proposal{}, err
	}
	ok, why := ralphloop.MayFollow(f, about)
	if !ok {
		return Proposal{Skip: why == "", Refused: why}, nil
	}
	return Proposal{
		Prompt: f.Prompt, Promise: f.Promise, CountedIterations: max(f.Iteration-1, 0),
		MaxIterations: f.MaxIterations, MaxGiven: f.MaxGiven,
	}, nil
}

func readRalph(path string) (*ralphloop.File, fs.FileInfo, error) {
	return readAndParse(path, ralphloop.MaxSize, ralphloop.Parse)
}

// IsRalphPluginEnabled reports whether the original plugin is enabled in a project. Then it follows
// the file, not Pawl.
func IsRalphPluginEnabled(root, config string) bool {
	return readClientSettings(root, config).pluginEnabled("ralph-loop", "ralph-wiggum")
}

func (ralphLoop) Follow(o LoopInfo) Files { return ralphFiles{o} }

type ralphFiles struct{ LoopInfo }

func (r ralphFiles) OwnPaths() []string { return relativePaths(r.Root, r.Path) }

// savedPath returns where the loop keeps the file after its end, so that a resumed loop can restore
// it.
func (r ralphFiles) savedPath() string { return filepath.Join(r.LoopDir, "ralph-loop.local.md") }

// goalPath returns where the loop keeps the prompt that the agent was told last.
func (r ralphFiles) goalPath() string { return filepath.Join(r.LoopDir, "ralph-prompt.md") }

// Goal returns the prompt that the agent was told last.
func (r ralphFiles) Goal() string {
	goal, _ := atomicfile.Read(r.goalPath(), ralphloop.MaxSize) // without one, that of the beginning holds
	return string(goal)
}

func (r ralphFiles) saveGoal(goal string) error {
	if err := atomicfile.Write(r.goalPath(), []byte(goal), 0o600); err != nil {
		return fmt.Errorf("keep the prompt: %w", err)
	}
	return nil
}

// ReceiveChanges treats edits as the user's: deleting the file cancels the loop, active: false
// pauses it, and another prompt is told to the agent.
func (r ralphFiles) ReceiveChanges(time.Time) (Changes, error) {
	f, info, err := readRalph(r.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && existingPath(r.savedPath()) != "":
		return Changes{}, nil
	case errors.Is(err, fs.ErrNotExist):
		return Changes{Stop: r.Spec.CompatFile + " was deleted"}, nil
	case err != nil:
		return Changes{}, err
	}
	c := Changes{Paused: !f.Active}
	if told := r.Goal(); told != "" && told != f.Prompt {
		c.Notes = []Note{newNote(info.ModTime(), 0, goalChanged(r.Spec.CompatFile, f.Prompt))}
		c.Acknowledge = func() error { return r.saveGoal(f.Prompt) }
	}
	return c, nil
}

// UpdateProgress writes the iteration into the file, nothing else.
func (r ralphFiles) UpdateProgress(m memory.Memory, _ time.Time) error {
	f, _, err := readRalph(r.Path)
	if errors.Is(err, fs.ErrNotExist) && existingPath(r.savedPath()) != "" {
		return r.restoreFile(m.State.Iteration)
	}
	if err != nil {
		return nil //nolint:nilerr // ReceiveChanges reported it
	}
	if err := writeFile(r.Path, f.SetIteration(m.State.Iteration).Bytes()); err != nil {
		return fmt.Errorf("set the iteration: %w", err)
	}
	if r.Goal() == "" {
		if err := r.saveGoal(f.Prompt); err != nil {
			return err
		}
	}
	if err := os.Remove(r.savedPath()); err != nil && !errors.Is(err, fs.ErrNotExist) { // the loop was resumed
		return fmt.Errorf("set the iteration: %w", err)
	}
	return nil
}

// restoreFile restores the file from its saved copy.
func (r ralphFiles) restoreFile(iteration int) error {
	f, _, err := readRalph(r.savedPath())
	if err == nil {
		err = atomicfile.Write(r.Path, f.SetIteration(iteration).Bytes(), 0o644)
	}
	if err == nil {
		err = os.Remove(r.savedPath()) // from now on, deleting the file cancels the loop
	}
	if err != nil {
		return fmt.Errorf("put the file back: %w", err)
	}
	return nil
}

// MarkEnded removes the file, since scripts take it for a running loop. A file of another session
// stays. So does one that the user wrote after the removal: the runner and the session's hook both
// mark the end.
func (r ralphFiles) MarkEnded(_ memory.Memory, session string) error {
	f, _, err := readRalph(r.Path)
	if err != nil || f.SessionID != "" && f.SessionID != session {
		return nil //nolint:nilerr // it is kept, whatever it is
	}
	if saved, _, err := readRalph(r.savedPath()); err == nil && !bytes.Equal(saved.Bytes(), f.Bytes()) {
		return nil
	}
	if err := atomicfile.Swap(r.savedPath(), f.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Remove(r.Path)
}

func (r ralphFiles) ProgressLine(s loop.State) string {
	return ralphloop.IterationMessage(s.Iteration, r.Spec.Promise)
}

func (r ralphFiles) EndLine(s loop.State) string {
	switch s.Outcome {
	case loop.Iterations:
		return ralphloop.MaxReachedMessage(s.Policy.Limits.Iterations)
	case loop.Verified, loop.Unverified:
		return ralphloop.PromiseMessage(r.Spec.Promise)
	case loop.CancelledEnd:
		return ralphloop.CancelledMessage(s.Iteration)
	}
	return ""
}
