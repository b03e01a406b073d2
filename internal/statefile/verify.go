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

// verifyActive is the format of the verify loop of claude-prompts. Its command comes from a file,
// so this package never runs it.
type verifyActive struct{}

// VerifyActiveName is the name of that format.
const VerifyActiveName = "verify-active"

func (verifyActive) Name() string { return VerifyActiveName }

// Find returns the first state file. If there is only the database of a newer version, it returns
// that, and Propose refuses it by name.
func (verifyActive) Find(p Place) string {
	newer := ""
	for pair := range slices.Chunk(p.VerifyActivePaths(), 2) { // the state file, and the database of a newer version
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

// promptsHookActive reports whether the hook of claude-prompts is active, as a hook or in a plugin.
// Then the hook follows the file, not Pawl.
func promptsHookActive(root, config string) bool {
	s := readClientSettings(root, config)
	return s.stopHookFile("ralph-stop") != "" || s.pluginEnabled("claude-prompts", "claude-prompts-mcp")
}

func (v verifyActive) Propose(path string, p Place, c SessionInfo) (Proposal, error) {
	name := DisplayPath(p.Root, path)
	about := c.fileContext(name, promptsHookActive(p.Root, p.ClientConfig))
	if filepath.Ext(path) == ".db" {
		if about.Followed || !verifyactive.IsFresh(lastWrite(path), about) {
			return Proposal{Skip: true}, nil // another hook follows it, or it is old
		}
		return Proposal{Refused: verifyactive.NewerVersionMessage(name)}, nil
	}
	f, info, err := readVerify(path)
	if err != nil {
		return Proposal{}, err
	}
	ours := isInside(p.Root, filepath.Dir(path))
	if !ours && len(relativePaths(p.Root, path)) == 1 {
		return Proposal{Refused: name + " is in a folder that links outside the project"}, nil
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
		return Proposal{Skip: true}, nil // all projects share the plugin's file, and an old session left it
	}
	if why := verifyactive.WhyNotFollow(f, about); why != "" {
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
	return v.withIsolation(made, path, p), nil
}

// withIsolation adds the settings for isolated attempts.
func (verifyActive) withIsolation(made Proposal, path string, p Place) Proposal {
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

// verifyConfig reads the settings of claude-prompts and returns their path, "" without any.
func verifyConfig(state string, p Place) (c verifyactive.Config, name string) {
	var paths []string
	for _, root := range []string{p.Plugin, p.Root, filepath.Dir(filepath.Dir(state))} {
		if filepath.IsAbs(root) {
			paths = append(paths, filepath.Join(root, filepath.FromSlash(verifyactive.ServerConfigPath)), filepath.Join(root, verifyactive.ConfigPath))
		}
	}
	for _, path := range paths {
		data, _, err := readFile(path, verifyactive.MaxSize)
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

// lastWrite returns when a database was last written. Its newest writes may be in the -wal file.
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
	return readAndParse(path, verifyactive.MaxSize, verifyactive.Parse)
}

// workingDir returns the folder in which the command runs, "" for the root. A command must not run
// outside the project that the user trusted.
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
		return "", failure.New(failure.Usage, hint, "%s: workingDir %s is outside the project", verifyactive.StatePath, f.WorkingDir)
	}
	return filepath.Clean(dir), nil
}

// verifyGoal returns the user's goal without the request for the loop, "" if there is nothing else.
func verifyGoal(f *verifyactive.File) string {
	if p, found, err := verifyactive.ParsePrompt(f.Goal); found && err == nil {
		return p.Goal
	}
	return strings.TrimSpace(f.Goal)
}

func (verifyActive) Follow(o LoopInfo) Files { return verifyFiles{o} }

type verifyFiles struct{ LoopInfo }

func (v verifyFiles) OwnPaths() []string { return relativePaths(v.Root, v.Path) }

// isUnchanged reports whether the file still has the command of this loop.
func (v verifyFiles) isUnchanged(f *verifyactive.File) bool {
	return slices.ContainsFunc(v.Spec.Gates, func(g gate.Gate) bool { return g.Command == f.Command })
}

// ReceiveChanges treats a deleted file as the user's request to stop. It does not take over another
// command, since the user agreed to one.
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
		return Changes{}, failure.New(failure.Usage, "end this loop to start that one", "%s now names another command, so pawl no longer follows it", DisplayPath(v.Root, v.Path))
	}
	return Changes{}, nil
}

// UpdateProgress writes the iteration and the last result of the command, nothing else.
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
	if err := writeFile(v.Path, set.Bytes()); err != nil {
		return fmt.Errorf("set the iteration: %w", err)
	}
	if err := os.Remove(v.removedMarker()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set the iteration: %w", err)
	}
	return nil
}

// failedChecks returns how many checks of the command failed before a turn: one after each earlier
// turn. The file counts these, not turns.
func failedChecks(s loop.State) int { return max(s.Iteration-1, 0) }

// MarkEnded removes the file, since the next turn would start the loop again. A file with another
// command stays: it belongs to another loop. So does a file that appears after the removal: the runner
// and the session's hook both mark the end, and the user may ask for a new loop between them.
func (v verifyFiles) MarkEnded(memory.Memory, string) error {
	f, _, err := readVerify(v.Path)
	if err != nil || !v.isUnchanged(f) || existingPath(v.removedMarker()) != "" {
		return nil //nolint:nilerr // it is kept, whatever it is
	}
	// A resumed loop must not take the removal for the user's request to stop.
	if err := atomicfile.Swap(v.removedMarker(), nil, 0o600); err != nil {
		return err
	}
	return os.Remove(v.Path)
}

// removedMarker returns the path of a file that exists once the loop itself removed the state file.
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
