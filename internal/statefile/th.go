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
	"github.com/pawl-dev/pawl/internal/foreign/thloop"
	"github.com/pawl-dev/pawl/internal/record"
)

// thLoop is th-loop's state file and channel. It names no session and no end but
// its limits: these loops explore, or do something again every so often.
type thLoop struct{}

func (thLoop) Name() string { return "th-loop" }

func (thLoop) Find(p Place) string { return there(p.ThLoopPath()) }

func (thLoop) Propose(path string, p Place, c Circumstances) (Proposal, error) {
	f, info, err := readTh(path, in(p.Root, path))
	if err != nil {
		return Proposal{}, err
	}
	tracked, err := c.Tracked(path)
	if err != nil {
		return Proposal{}, err
	}
	ok, why := thloop.Adopt(in(p.Root, path), f, thloop.Circumstances{
		SessionStarted: c.SessionStarted, Modified: info.ModTime(), Now: c.Now, Tracked: tracked, Original: thHook(p.Root, p.Home),
		Begin: c.begin(in(p.Root, path)),
	})
	if !ok {
		return Proposal{Skip: why == "", Refused: why}, nil
	}
	q := Proposal{
		Prompt: cmp.Or(f.Prompt, thloop.Goal()), Kind: loop.Explore, Counted: max(f.Iteration-1, 0),
		MaxIterations: f.Max, MaxGiven: f.MaxGiven, MaxDuration: f.Duration, DurationGiven: f.DurationGiven,
	}
	if f.Every > 0 {
		q.Kind, q.Every = loop.Periodic, f.Every
	}
	return q, nil
}

func readTh(path, name string) (*thloop.File, fs.FileInfo, error) {
	data, info, err := read(path, thloop.MaxSize)
	if err != nil {
		return nil, nil, err
	}
	f, err := thloop.Parse(name, data)
	return f, info, err
}

// thHook tells whether th-loop's own hook is installed: it drives its file itself
// then.
func thHook(root, home string) bool {
	s := settingsOf(root, home)
	return s.driven("th-loop-stop-hook") != "" || s.enabled("th-loop")
}

func (thLoop) Follow(o Order) Files { return thFiles{o} }

type thFiles struct{ Order }

// project is the folder that the channel is looked for in: the one .claude lies in.
func (t thFiles) project() string { return filepath.Dir(filepath.Dir(t.Path)) }

// me is the agent's name in the channel: the one that its state file is called by.
func (t thFiles) me() string {
	name, _ := strings.CutPrefix(filepath.Base(t.Path), "th-loop")
	name, _ = strings.CutSuffix(name, ".local.md")
	return strings.TrimPrefix(name, "-")
}

// Own are the state file and the channel: what other processes write there is no
// work of the agent's either.
func (t thFiles) Own() []string {
	paths := []string{t.Path, filepath.Join(t.project(), filepath.FromSlash(thloop.ChannelFile))}
	for _, name := range t.days() {
		paths = append(paths, filepath.Join(t.project(), filepath.FromSlash(thloop.ChannelDir), name))
	}
	return within(t.Root, paths...)
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

// GoesOn writes the iteration, and up to when the channel was read. A status that
// the agent wrote is put back.
func (t thFiles) GoesOn(m record.Memory, _ time.Time) error {
	f, info, err := readTh(t.Path, t.Spec.File)
	before := t.remember()
	memory := before
	if memory.News {
		memory.Told = m.State.Iteration
	}
	if err == nil && memory.Prompt == nil && memory.Asked.IsZero() {
		memory.Asked = info.ModTime() // what we write now is nobody's wish for a loop
	}
	memory.Held, memory.Paused, memory.News, memory.Reads, memory.Ran = false, false, false, 0, t.ranSoFar() // what was held, the user had go on
	if !same(before, memory) {
		if err := t.keep(memory); err != nil {
			return err
		}
	}
	if err != nil {
		return nil //nolint:nilerr // Hear has told of it
	}
	g := f.SetIteration(m.State.Iteration)
	if (memory.Seen != "" || before.Paused) && !f.Active() { // the agent's word for it, or ours, or the user had it go on
		g = g.SetStatus(thloop.Active)
	}
	if since := memory.Cursor.Since; !since.IsZero() {
		g = g.SetLastRead(since)
	}
	return t.set(f, g)
}

// Ends says in the file that the loop is over. The file stays: it is the user's.
func (t thFiles) Ends(m record.Memory, _ string) error {
	f, _, err := readTh(t.Path, t.Spec.File)
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
	memory := t.remember()
	memory.Seen = says(g, nil) // our own word: no reason to stop, should the loop be taken up again
	return t.keep(memory)
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

// Line tells how far the loop is, and whether the channel had anything.
func (t thFiles) Line(s loop.State) string {
	line := fmt.Sprintf("th-loop iteration %d", s.Iteration)
	if most := s.Policy.Limits.Iterations; most > 0 {
		line += fmt.Sprintf("/%d", most)
	}
	switch memory := t.remember(); {
	case memory.News || memory.Told == s.Iteration:
		line += " · new messages in the channel"
	case !memory.Cursor.Since.IsZero():
		line += " · " + thloop.NoNews(memory.Cursor.Since.Local())
	}
	return line
}

// Ending is said of every end that is one of th-loop's.
func (t thFiles) Ending(s loop.State) string {
	switch s.Outcome {
	case loop.Finished, loop.Iterations, loop.Duration, loop.CancelledEnd, loop.Verified, loop.Unverified:
		return thloop.Ended(s.EndedAt.Sub(s.StartedAt))
	case loop.Errored, loop.Budget, loop.Stuck, loop.BlockedEnd, loop.Tampered:
	}
	return ""
}

// deleted is what is remembered of a state file that is away.
const deleted = "was deleted"

// says is what the state file says against going on, "" if nothing.
func says(f *thloop.File, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return deleted
	case err == nil && !f.Active():
		return fmt.Sprintf("has the status %q", f.Status)
	}
	return ""
}
