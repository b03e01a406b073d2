package statefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/foreign/thloop"
)

// thLoop is the format of th-loop: a state file and a channel. It names no session, and only limits
// end its loops: they explore, or repeat something at an interval.
type thLoop struct{}

func (thLoop) Name() string { return "th-loop" }

func (thLoop) Find(p Place) string { return existingPath(p.ThLoopPath()) }

func (thLoop) Propose(path string, p Place, c SessionInfo) (Proposal, error) {
	name := DisplayPath(p.Root, path)
	f, info, err := readTh(path, name)
	if err != nil {
		return Proposal{}, err
	}
	about := c.fileContext(name, thHookActive(p.Root, p.ClientConfig))
	about.Modified = info.ModTime()
	if about.Tracked, err = c.Tracked(path); err != nil {
		return Proposal{}, err
	}
	ok, why := thloop.MayFollow(name, f, about)
	if !ok {
		return Proposal{Skip: why == "", Refused: why}, nil
	}
	q := Proposal{
		Prompt: cmp.Or(f.Prompt, thloop.DefaultGoal()), Kind: loop.Explore, CountedIterations: max(f.Iteration-1, 0),
		MaxIterations: f.Max, MaxGiven: f.MaxGiven, MaxDuration: f.Duration, DurationGiven: f.DurationGiven,
	}
	if f.Every > 0 {
		q.Kind, q.Every = loop.Periodic, f.Every
	}
	return q, nil
}

func readTh(path, name string) (*thloop.File, fs.FileInfo, error) {
	return readAndParse(path, thloop.MaxSize, func(data []byte) (*thloop.File, error) { return thloop.Parse(name, data) })
}

// thHookActive reports whether th-loop's own hook is installed. Then the hook follows the file, not
// Pawl.
func thHookActive(root, config string) bool {
	s := readClientSettings(root, config)
	return s.stopHookFile("th-loop-stop-hook") != "" || s.pluginEnabled("th-loop")
}

func (thLoop) Follow(o LoopInfo) Files { return thFiles{o} }

type thFiles struct{ LoopInfo }

// projectDir returns the folder that contains .claude. The channel is there, too.
func (t thFiles) projectDir() string { return filepath.Dir(filepath.Dir(t.Path)) }

// agentName returns the agent's name in the channel, from the name of its state file.
func (t thFiles) agentName() string {
	name, _ := strings.CutPrefix(filepath.Base(t.Path), "th-loop")
	name, _ = strings.CutSuffix(name, ".local.md")
	return strings.TrimPrefix(name, "-")
}

// OwnPaths returns the state file and the channel: the agent is not the only writer of these files.
func (t thFiles) OwnPaths() []string {
	paths := []string{t.Path, filepath.Join(t.projectDir(), filepath.FromSlash(thloop.ChannelFile))}
	for _, name := range t.channelFileNames() {
		paths = append(paths, filepath.Join(t.projectDir(), filepath.FromSlash(thloop.ChannelDir), name))
	}
	return relativePaths(t.Root, paths...)
}

// channelFileNames returns the names in the channel's folder.
func (t thFiles) channelFileNames() []string {
	entries, err := os.ReadDir(filepath.Join(t.projectDir(), filepath.FromSlash(thloop.ChannelDir)))
	if err != nil {
		return nil // the channel is one file, or is still empty
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// UpdateProgress writes the iteration and the time until which the channel was read. It resets a
// status that the agent wrote.
func (t thFiles) UpdateProgress(m memory.Memory, _ time.Time) error {
	f, info, err := readTh(t.Path, t.Spec.CompatFile)
	before := t.loadState()
	kept := before
	if kept.HasNews {
		kept.LastNewsIteration = m.State.Iteration
	}
	if err == nil && kept.Prompt == nil && kept.StartFileTime.IsZero() {
		kept.StartFileTime = info.ModTime() // our own writes do not ask for a loop
	}
	kept.Held, kept.Paused, kept.HasNews, kept.ReadsThisTurn, kept.RunnerCallsOffset = false, false, false, 0, t.runnerCallsOffset() // the user resumed the loop
	if !equalState(before, kept) {
		if err := t.saveState(kept); err != nil {
			return err
		}
	}
	if err != nil {
		return nil //nolint:nilerr // ReceiveChanges reported it
	}
	g := f.SetIteration(m.State.Iteration)
	if (kept.KnownStop != "" || before.Paused) && !f.IsActive() { // written by the agent or by us, or the user resumed the loop
		g = g.SetStatus(thloop.Active)
	}
	if since := kept.Cursor.Since; !since.IsZero() {
		g = g.SetLastRead(since)
	}
	return t.writeStateFile(f, g)
}

// MarkEnded writes that the loop ended. The file stays, as it is the user's.
func (t thFiles) MarkEnded(m memory.Memory, _ string) error {
	f, _, err := readTh(t.Path, t.Spec.CompatFile)
	if err != nil || !f.IsActive() {
		return nil //nolint:nilerr // it is kept, whatever it is
	}
	status := thloop.Stopped
	if slices.Contains([]loop.Outcome{loop.Finished, loop.Iterations, loop.Duration, loop.Verified, loop.Unverified}, m.State.Outcome) {
		status = thloop.Completed
	}
	g := f.SetIteration(m.State.Iteration).SetStatus(status)
	if err := t.writeStateFile(f, g); err != nil {
		return err
	}
	kept := t.loadState()
	kept.KnownStop = stopReason(g, nil) // our own status must not stop a resumed loop
	return t.saveState(kept)
}

func (t thFiles) writeStateFile(f, g *thloop.File) error {
	if bytes.Equal(f.Bytes(), g.Bytes()) {
		return nil
	}
	if err := writeFile(t.Path, g.Bytes()); err != nil {
		return fmt.Errorf("bring th-loop's state up to date: %w", err)
	}
	return nil
}

// ProgressLine returns the iteration, and whether the channel had messages.
func (t thFiles) ProgressLine(s loop.State) string {
	line := fmt.Sprintf("th-loop iteration %d", s.Iteration)
	if most := s.Policy.Limits.Iterations; most > 0 {
		line += fmt.Sprintf("/%d", most)
	}
	switch kept := t.loadState(); {
	case kept.HasNews || kept.LastNewsIteration == s.Iteration:
		line += " · new messages in the channel"
	case !kept.Cursor.Since.IsZero():
		line += " · " + thloop.NoNewsMessage(kept.Cursor.Since.Local())
	}
	return line
}

// EndLine returns a line for the outcomes that th-loop knows.
func (t thFiles) EndLine(s loop.State) string {
	switch s.Outcome {
	case loop.Finished, loop.Iterations, loop.Duration, loop.CancelledEnd, loop.Verified, loop.Unverified:
		return thloop.EndedMessage(s.EndedAt.Sub(s.StartedAt))
	}
	return ""
}

// fileDeleted is the stop reason of a deleted state file.
const fileDeleted = "was deleted"

// stopReason returns why the state file ends the loop, "" if it does not.
func stopReason(f *thloop.File, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileDeleted
	case err == nil && !f.IsActive():
		return fmt.Sprintf("has the status %q", f.Status)
	}
	return ""
}
