package statefile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/record"
)

// verifyActive is the state file of the verify loop of claude-prompts. Its command
// comes out of a file, which is why nothing here runs it.
type verifyActive struct{}

// VerifyActiveName is the format of claude-prompts' verify loop.
const VerifyActiveName = "verify-active"

func (verifyActive) Name() string { return VerifyActiveName }

// Find is the first state file, or where there is none but a newer version keeps
// its state, that one: Propose refuses it by name.
func (verifyActive) Find(p Place) string {
	newer := ""
	for pair := range slices.Chunk(p.VerifyActivePaths(), 2) { // the file and, beside it, a newer version's
		file, err := os.Lstat(pair[0])
		db, dbErr := os.Lstat(pair[1])
		switch {
		case err == nil && (dbErr != nil || !db.ModTime().After(file.ModTime())):
			return pair[0]
		case dbErr == nil:
			newer = cmp.Or(newer, pair[1])
		}
	}
	return newer
}

// promptsHookActive reports whether the hook of claude-prompts is active, by itself or in
// a plugin. It follows the file itself then.
func promptsHookActive(root, home string) bool {
	s := settingsOf(root, home)
	return s.stopHookFile("ralph-stop") != "" || s.pluginEnabled("claude-prompts", "claude-prompts-mcp")
}

func (v verifyActive) Propose(path string, p Place, c SessionInfo) (Proposal, error) {
	name := DisplayPath(p.Root, path)
	about := c.about(name, promptsHookActive(p.Root, p.Home))
	if filepath.Ext(path) == ".db" {
		if about.Followed || !verifyactive.IsFresh(lastWrite(path), about) {
			return Proposal{Skip: true}, nil // somebody else follows it, or nobody does any more
		}
		return Proposal{Refused: verifyactive.NewerVersionMessage(name)}, nil
	}
	f, info, err := readVerify(path)
	if err != nil {
		return Proposal{}, err
	}
	ours := isInside(p.Root, filepath.Dir(path))
	if !ours && len(relativePaths(p.Root, path)) == 1 {
		return Proposal{Refused: name + " lies in a folder that is a link out of the project"}, nil
	}
	about.Modified = info.ModTime()
	if ours {
		tracked, err := c.Tracked(path)
		if err != nil {
			return Proposal{}, err
		}
		if tracked {
			return Proposal{Refused: "git tracks " + name + ", so it may have come with a clone; if it is yours: git rm --cached " + name}, nil
		}
	}
	if !ours && !verifyactive.IsFresh(about.Modified, about) {
		return Proposal{Skip: true}, nil // the plugin's file serves all projects: a session long gone left it
	}
	if why := verifyactive.Adopt(f, about); why != "" {
		return Proposal{Refused: name + " " + why}, nil
	}
	dir, err := workingDir(p.Root, f)
	if err != nil && !ours {
		return Proposal{Skip: true}, nil // it is for another project
	}
	if err != nil {
		return Proposal{}, err
	}
	made := Proposal{
		Prompt: verifyGoal(f), MaxIterations: f.MaxIterations, MaxGiven: true, CountedIterations: f.Iteration,
		Verify: f.Command, VerifyTimeout: f.Timeout, VerifyDir: dir,
	}
	return v.bounds(made, path, p), nil
}

// bounds adds what the settings say of isolated tries.
func (verifyActive) bounds(made Proposal, path string, p Place) Proposal {
	config, name := verifyConfig(path, p)
	made.InSessionTries = config.Tries
	is, remarks := config.Isolation, config.Notes
	switch {
	case is.Off != "":
		remarks = append(remarks, "there are no isolated tries: "+is.Off)
	case name != "":
		remarks = append(remarks, "isolated tries are bounded by "+name)
	}
	if is.Off == "" {
		made.Isolation = &record.Isolation{MaxCostUSD: is.MaxCostUSD, Timeout: is.Timeout}
	}
	made.StartMessage = strings.Join(remarks, "; ")
	return made
}

// verifyConfig reads the settings of claude-prompts, and returns their path, "" where there
// are none.
func verifyConfig(state string, p Place) (c verifyactive.Config, name string) {
	var paths []string
	for _, root := range []string{p.Plugin, p.Root, filepath.Dir(filepath.Dir(state))} {
		if filepath.IsAbs(root) {
			paths = append(paths, filepath.Join(root, filepath.FromSlash(verifyactive.ServerConfigPath)), filepath.Join(root, verifyactive.ConfigPath))
		}
	}
	for _, path := range paths {
		data, _, err := read(path, verifyactive.MaxSize)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			c = verifyactive.Defaults()
			c.Notes = []string{err.Error() + ": the defaults hold"}
			return c, DisplayPath(p.Root, path)
		}
		return verifyactive.ParseConfig(data), DisplayPath(p.Root, path)
	}
	return verifyactive.Defaults(), ""
}

// lastWrite is when a database was written to last: its newest writes lie beside
// it for a while.
func lastWrite(db string) time.Time {
	var last time.Time
	for _, path := range []string{db, db + "-wal"} {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

func readVerify(path string) (*verifyactive.File, fs.FileInfo, error) {
	return readAs(path, verifyactive.MaxSize, verifyactive.Parse)
}

// workingDir is where the command is to run, "" for the root. A file must not
// have a command run outside of the project that its consent is for.
func workingDir(root string, f *verifyactive.File) (string, error) {
	if f.WorkingDir == "" {
		return "", nil
	}
	dir := f.WorkingDir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	const hint = "correct workingDir, or leave it out"
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", failure.New(failure.Usage, hint, "%s: workingDir: %w", verifyactive.StatePath, err)
	case !info.IsDir():
		return "", failure.New(failure.Usage, hint, "%s: workingDir %s is not a folder", verifyactive.StatePath, f.WorkingDir)
	case !isInside(root, dir):
		return "", failure.New(failure.Usage, hint, "%s: workingDir %s lies outside of the project", verifyactive.StatePath, f.WorkingDir)
	}
	return filepath.Clean(dir), nil
}

// verifyGoal is what the user asked for, without what asks for the loop; "" if
// that was all.
func verifyGoal(f *verifyactive.File) string {
	if p, found, err := verifyactive.ParsePrompt(f.Goal); found && err == nil {
		return p.Goal
	}
	return strings.TrimSpace(f.Goal)
}

func (verifyActive) Follow(o LoopInfo) Files { return verifyFiles{o} }

type verifyFiles struct{ LoopInfo }

func (v verifyFiles) OwnPaths() []string { return relativePaths(v.Root, v.Path) }

// isUnchanged reports whether the file still asks for what this loop was begun for.
func (v verifyFiles) isUnchanged(f *verifyactive.File) bool {
	return slices.ContainsFunc(v.Spec.Gates, func(g gate.Gate) bool { return g.Command == f.Command })
}

// ReceiveChanges takes a deleted file for the user's word. Another command in it is not
// taken over: the user has agreed to one.
func (v verifyFiles) ReceiveChanges(time.Time) (Changes, error) {
	f, _, err := readVerify(v.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && existingPath(v.removedMarker()) == "":
		return Changes{Stop: v.Spec.CompatFile + " was deleted"}, nil
	case errors.Is(err, fs.ErrNotExist):
		return Changes{}, nil
	case err != nil:
		return Changes{}, err
	case !v.isUnchanged(f):
		return Changes{}, failure.New(failure.Usage, "end this loop to begin that one", "%s asks for another command by now, and is not followed any more", DisplayPath(v.Root, v.Path))
	}
	return Changes{}, nil
}

// UpdateProgress writes the iteration and what the command said last, nothing else.
func (v verifyFiles) UpdateProgress(m memory.Memory, _ time.Time) error {
	f, _, err := readVerify(v.Path)
	if err != nil || !v.isUnchanged(f) {
		return nil //nolint:nilerr // ReceiveChanges reported it
	}
	set := f.SetIteration(failedChecks(m.State))
	if i := slices.IndexFunc(m.Results, func(r gate.Result) bool { return r.Command == f.Command }); i >= 0 {
		r := m.Results[i]
		set = set.SetLast(verifyactive.Result{
			Passed: r.Status == gate.Pass, ExitCode: r.ExitCode, TimedOut: r.TimedOut, DurationMs: r.Duration.Milliseconds(),
			Command: r.Command, Stdout: cmp.Or(r.Tail, r.FirstError),
		})
	}
	if err := write(v.Path, set.Bytes()); err != nil {
		return fmt.Errorf("set the iteration: %w", err)
	}
	return nil
}

// failedChecks is how many checks of the command have failed when a turn is given: one
// after each turn before it. The file counts those, not turns.
func failedChecks(s loop.State) int { return max(s.Iteration-1, 0) }

// MarkEnded removes the file: where it stays, the next turn would begin the loop once
// more. One that asks for something else by now is another loop's.
func (v verifyFiles) MarkEnded(memory.Memory, string) error {
	f, _, err := readVerify(v.Path)
	if err != nil || !v.isUnchanged(f) {
		return nil //nolint:nilerr // it is kept, whatever it is
	}
	// A loop that is taken up again must not take this for the user's word.
	if err := atomicfile.Swap(v.removedMarker(), nil, 0o600); err != nil {
		return err
	}
	return os.Remove(v.Path)
}

// removedMarker is there once the loop itself has removed the state file.
func (v verifyFiles) removedMarker() string { return filepath.Join(v.LoopDir, "verify-active.removed") }

func (v verifyFiles) ProgressLine(s loop.State) string {
	done := failedChecks(s)
	if done == 0 {
		return ""
	}
	line := verifyactive.RetryMessage(done, s.Policy.Limits.Iterations)
	if s.Isolated != nil && s.Isolated.Iteration == done {
		line += " · isolated try: " + verifyactive.Stats(*s.Isolated)
	}
	return line
}

func (v verifyFiles) EndLine(s loop.State) string {
	switch s.Outcome {
	case loop.Verified, loop.Unverified:
		return verifyactive.PassedMessage(max(s.Iteration, 1))
	case loop.Iterations:
		return verifyactive.MaxReachedMessage(s.Policy.Limits.Iterations)
	}
	return ""
}
