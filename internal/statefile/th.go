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

// thLoop is th-loop's state file and channel. It names no session and no end but
// its limits: these loops explore, or do something again every so often.
type thLoop struct{}

func (thLoop) Name() string { return "th-loop" }

func (thLoop) Find(p Place) string { return existingPath(p.ThLoopPath()) }

func (thLoop) Propose(path string, p Place, c SessionInfo) (Proposal, error) {
	name := DisplayPath(p.Root, path)
	f, info, err := readTh(path, name)
	if err != nil {
		return Proposal{}, err
	}
	about := c.about(name, thHookActive(p.Root, p.Home))
	about.Modified = info.ModTime()
	if about.Tracked, err = c.Tracked(path); err != nil {
		return Proposal{}, err
	}
	ok, why := thloop.Adopt(name, f, about)
	if !ok {
		return Proposal{Skip: why == "", Refused: why}, nil
	}
	q := Proposal{
		Prompt: cmp.Or(f.Prompt, thloop.Goal()), Kind: loop.Explore, CountedIterations: max(f.Iteration-1, 0),
		MaxIterations: f.Max, MaxGiven: f.MaxGiven, MaxDuration: f.Duration, DurationGiven: f.DurationGiven,
	}
	if f.Every > 0 {
		q.Kind, q.Every = loop.Periodic, f.Every
	}
	return q, nil
}

func readTh(path, name string) (*thloop.File, fs.FileInfo, error) {
	return readAs(path, thloop.MaxSize, func(data []byte) (*thloop.File, error) { return thloop.Parse(name, data) })
}

// thHookActive reports whether th-loop's own hook is installed. It follows its file
// itself then.
func thHookActive(root, home string) bool {
	s := settingsOf(root, home)
	return s.stopHookFile("th-loop-stop-hook") != "" || s.pluginEnabled("th-loop")
}

func (thLoop) Follow(o LoopInfo) Files { return thFiles{o} }

type thFiles struct{ LoopInfo }

// project is the folder that the channel is looked for in: the one .claude lies in.
func (t thFiles) project() string { return filepath.Dir(filepath.Dir(t.Path)) }

// agentName returns the agent's name in the channel, from the name of its state file.
func (t thFiles) agentName() string {
	name, _ := strings.CutPrefix(filepath.Base(t.Path), "th-loop")
	name, _ = strings.CutSuffix(name, ".local.md")
	return strings.TrimPrefix(name, "-")
}

// OwnPaths are the state file and the channel: what other processes write there is no
// work of the agent's either.
func (t thFiles) OwnPaths() []string {
	paths := []string{t.Path, filepath.Join(t.project(), filepath.FromSlash(thloop.ChannelFile))}
	for _, name := range t.days() {
		paths = append(paths, filepath.Join(t.project(), filepath.FromSlash(thloop.ChannelDir), name))
	}
	return relativePaths(t.Root, paths...)
}

// days are the names in the channel's folder.
func (t thFiles) days() []string {
	entries, err := os.ReadDir(filepath.Join(t.project(), filepath.FromSlash(thloop.ChannelDir)))
	if err != nil {
		return nil // there is none: the channel has one file, or nobody has written yet
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// UpdateProgress writes the iteration, and up to when the channel was read. A status that
// the agent wrote is put back.
func (t thFiles) UpdateProgress(m memory.Memory, _ time.Time) error {
	f, info, err := readTh(t.Path, t.Spec.CompatFile)
	before := t.loadState()
	kept := before
	if kept.News {
		kept.Told = m.State.Iteration
	}
	if err == nil && kept.Prompt == nil && kept.Asked.IsZero() {
		kept.Asked = info.ModTime() // what we write now is nobody's wish for a loop
	}
	kept.Held, kept.Paused, kept.News, kept.Reads, kept.Ran = false, false, false, 0, t.runnerCallsOffset() // what was held, the user had continue
	if !same(before, kept) {
		if err := t.saveState(kept); err != nil {
			return err
		}
	}
	if err != nil {
		return nil //nolint:nilerr // ReceiveChanges reported it
	}
	g := f.SetIteration(m.State.Iteration)
	if (kept.Seen != "" || before.Paused) && !f.Active() { // the agent's word for it, or ours, or the user had it continue
		g = g.SetStatus(thloop.Active)
	}
	if since := kept.Cursor.Since; !since.IsZero() {
		g = g.SetLastRead(since)
	}
	return t.set(f, g)
}

// MarkEnded says in the file that the loop is over. The file stays: it is the user's.
func (t thFiles) MarkEnded(m memory.Memory, _ string) error {
	f, _, err := readTh(t.Path, t.Spec.CompatFile)
	if err != nil || !f.Active() {
		return nil //nolint:nilerr // it is kept, whatever it is
	}
	status := thloop.Stopped
	if slices.Contains([]loop.Outcome{loop.Finished, loop.Iterations, loop.Duration, loop.Verified, loop.Unverified}, m.State.Outcome) {
		status = thloop.Completed
	}
	g := f.SetIteration(m.State.Iteration).SetStatus(status)
	if err := t.set(f, g); err != nil {
		return err
	}
	kept := t.loadState()
	kept.Seen = stopReason(g, nil) // our own word: no reason to stop, should the loop be taken up again
	return t.saveState(kept)
}

func (t thFiles) set(f, g *thloop.File) error {
	if bytes.Equal(f.Bytes(), g.Bytes()) {
		return nil
	}
	if err := write(t.Path, g.Bytes()); err != nil {
		return fmt.Errorf("bring th-loop's state up to date: %w", err)
	}
	return nil
}

// ProgressLine tells how far the loop is, and whether the channel had anything.
func (t thFiles) ProgressLine(s loop.State) string {
	line := fmt.Sprintf("th-loop iteration %d", s.Iteration)
	if most := s.Policy.Limits.Iterations; most > 0 {
		line += fmt.Sprintf("/%d", most)
	}
	switch kept := t.loadState(); {
	case kept.News || kept.Told == s.Iteration:
		line += " · new messages in the channel"
	case !kept.Cursor.Since.IsZero():
		line += " · " + thloop.NoNews(kept.Cursor.Since.Local())
	}
	return line
}

// EndLine is said of every end that is one of th-loop's.
func (t thFiles) EndLine(s loop.State) string {
	switch s.Outcome {
	case loop.Finished, loop.Iterations, loop.Duration, loop.CancelledEnd, loop.Verified, loop.Unverified:
		return thloop.Ended(s.EndedAt.Sub(s.StartedAt))
	}
	return ""
}

// fileDeleted is stored as the state of a deleted state file.
const fileDeleted = "was deleted"

// stopReason says why the state file ends the loop; "": it does not.
func stopReason(f *thloop.File, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileDeleted
	case err == nil && !f.Active():
		return fmt.Sprintf("has the status %q", f.Status)
	}
	return ""
}
