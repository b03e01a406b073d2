package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/featureloop"
)

// featureList is the folder of a loop of the feature-list controller. Its state
// file is progress.txt, which need not be there; the list is the loop's plan, so
// that marks in it are the runner's affair.
type featureList struct{}

// FeatureListName is the format of the feature-list controller: its agents claim by
// marks in the plan.
const FeatureListName = "feature-list"

func (featureList) Name() string { return FeatureListName }

// Find is the progress.txt of the folder that the user named, else of the
// current one, else of the only one; where it cannot be told which one is meant,
// the folder of all of them.
func (featureList) Find(p Place) string {
	if named := p.FeatureLoopDir(); named != "" {
		return filepath.Join(named, featureloop.ProgressName)
	}
	all := p.FeatureLoopsDir()
	if existingPath(all) == "" {
		return ""
	}
	current := filepath.Join(all, featureloop.Current)
	for _, name := range []string{featureloop.ListName, featureloop.ProgressName} {
		if existingPath(filepath.Join(current, name)) != "" {
			return filepath.Join(current, featureloop.ProgressName)
		}
	}
	dirs := featureLoops(all)
	if len(dirs) > 1 {
		dirs = slices.DeleteFunc(dirs, func(dir string) bool {
			p, _, err := readProgress(filepath.Join(dir, featureloop.ProgressName), "")
			return err == nil && p.Ended()
		})
	}
	switch len(dirs) {
	case 0:
		return ""
	case 1:
		return filepath.Join(dirs[0], featureloop.ProgressName)
	}
	return all
}

// featureLoops are the folders in dir that have a list of features; one that has
// several names is there once.
func featureLoops(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var dirs []string
	var seen []fs.FileInfo
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		same := func(other fs.FileInfo) bool { return os.SameFile(info, other) }
		if err != nil || existingPath(filepath.Join(path, featureloop.ListName)) == "" || slices.ContainsFunc(seen, same) {
			continue
		}
		dirs, seen = append(dirs, path), append(seen, info)
	}
	return dirs
}

// readProgress reads a progress.txt; one that is not there is empty, and has no
// FileInfo. name stands in errors.
func readProgress(path, name string) (*featureloop.Progress, fs.FileInfo, error) {
	data, info, err := read(path, featureloop.MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	p, err := featureloop.Parse(name, data)
	return p, info, err
}

func (f featureList) Propose(path string, p Place, c SessionInfo) (Proposal, error) {
	if filepath.Base(path) != featureloop.ProgressName {
		return f.several(path, p, c)
	}
	dir := filepath.Dir(path)
	list := filepath.Join(dir, featureloop.ListName)
	progress, why, err := f.consider(path, p, c)
	if progress == nil {
		return Proposal{Skip: why == "" && err == nil, Refused: why}, err
	}
	if err := checkList(list, p); err != nil {
		return Proposal{}, err
	}
	if err := progress.Check(); err != nil {
		return Proposal{}, err
	}
	goal, err := featureGoal(dir, p.Root)
	if err != nil {
		return Proposal{}, err
	}
	q := Proposal{
		Prompt: goal, Plan: list, MaxIterations: progress.MaxIterations, MaxGiven: true,
		CountedIterations: max(progress.Iteration-1, 0), Handover: p.FeatureLoopDir() != "" || c.Unattended || !c.agentMayHaveWritten(),
	}
	if !q.Handover {
		q.StartMessage = "its list was written in this session, so it stays here: ! pawl handover continues in fresh sessions when the context is full"
	}
	return q, nil
}

// checkList says what is wrong with a list that nothing can be made of.
func checkList(path string, p Place) error {
	dir, name := filepath.Dir(path), DisplayPath(p.Root, path)
	if existingPath(dir) == "" && p.FeatureLoopDir() != "" {
		return failure.New(failure.Usage, "make the folder, or start the client without the variable", "RALPH_LOOP_DIR is %s, and there is no such folder", p.RalphLoopDir)
	}
	data, _, err := read(path, maxListBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.Usage, "write the list, or point RALPH_LOOP_DIR to the folder that has it", "there is no %s", name)
	}
	if err != nil {
		return err
	}
	return featureloop.CheckList(name, data)
}

// agentMayHaveWritten reports whether the session's agent may have created the folder,
// its list or its prompt: such files are not consent of the user's to unattended sessions.
// The agent is expected to write progress.txt and tick the list.
func (c SessionInfo) agentMayHaveWritten() bool {
	return c.ByAgent == nil || c.ByAgent(featureloop.ProgressName, featureloop.ListName, featureloop.PromptName, "ralph-loops")
}

// consider reads the progress.txt at path; it is nil where the session may not
// follow its folder, and why says why not, "" where there is nothing to say. Files
// that cannot be read are an error only if it might.
func (featureList) consider(path string, p Place, c SessionInfo) (progress *featureloop.Progress, why string, err error) {
	progress, info, bad := readProgress(path, DisplayPath(p.Root, path))
	list := filepath.Join(filepath.Dir(path), featureloop.ListName)
	data, listInfo, err := read(list, maxListBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		bad = errors.Join(bad, err)
	}
	if info == nil { // the list says in its place when it was begun, and by whom
		path, info = list, listInfo
	}
	if progress == nil || progress.Bytes() == nil {
		progress, _ = featureloop.Parse(DisplayPath(p.Root, path), nil)
	}
	about := featureloop.FileContext{
		Chosen: p.FeatureLoopDir() != "", SessionStarted: c.SessionStarted, Now: c.Now, Outside: !isInside(p.Root, filepath.Dir(path)),
		Begin: c.startHint(DisplayPath(p.Root, path)),
	}
	var readable bool
	if about.Open, readable = featureloop.Open(data); !readable {
		about.Open = -1 // what is wrong with it is said by whoever reads it as a plan
	}
	if info != nil {
		about.Modified = info.ModTime()
	}
	if info != nil && !about.Outside {
		if about.Tracked, err = c.Tracked(path); err != nil {
			return nil, "", err
		}
	}
	ok, why := featureloop.Adopt(progress, about)
	if ok {
		why = controllerHookFile(p.Root, p.Home)
	}
	if !ok || why != "" {
		return nil, why, nil
	}
	if bad != nil {
		return nil, "", bad
	}
	return progress, "", nil
}

// maxListBytes is the largest list that is read, in bytes: as planfile has it.
const maxListBytes = 20 << 20

// several says which folders there are, if one of them may be meant.
func (f featureList) several(all string, p Place, c SessionInfo) (Proposal, error) {
	var names []string
	for _, dir := range featureLoops(all) {
		if progress, why, _ := f.consider(filepath.Join(dir, featureloop.ProgressName), p, c); progress != nil || why != "" {
			names = append(names, DisplayPath(p.Root, dir))
		}
	}
	if len(names) == 0 {
		return Proposal{Skip: true}, nil
	}
	return Proposal{Refused: fmt.Sprintf("%s holds several loops: start the client with RALPH_LOOP_DIR=%s, or make %s a link to the one that is meant",
		DisplayPath(p.Root, all), strings.Join(names, " or "), featureloop.Current)}, nil
}

// featureGoal is the text of RALPH_PROMPT.md, "" where there is none: the list
// alone is the goal then.
func featureGoal(dir, root string) (string, error) {
	path := filepath.Join(dir, featureloop.PromptName)
	data, _, err := read(path, featureloop.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) || slices.Contains(data, 0) {
		return "", failure.New(failure.Usage, "save it as UTF-8", "%s is not UTF-8 text", DisplayPath(root, path))
	}
	return strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff")), nil
}

// controllerHookFile says where the settings have the controller itself follow such
// folders, "" for nowhere.
func controllerHookFile(root, home string) string {
	path := settingsOf(root, home).stopHookFile("ralph-loop-controller")
	if path == "" {
		return ""
	}
	return "a Stop hook in " + DisplayPath(root, path) + " is the controller of such loops: it is left to that; take it out to have pawl follow it"
}

// isInside reports whether a folder is inside the root, with links followed.
func isInside(root, dir string) bool {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// DisplayPath returns a path relative to the root, if it is inside.
func DisplayPath(root, path string) string {
	if own := relativePaths(root, path); len(own) == 1 {
		return own[0]
	}
	return path
}

func (featureList) Follow(o LoopInfo) Files { return featureFiles{o} }

type featureFiles struct{ LoopInfo }

func (f featureFiles) OwnPaths() []string { return relativePaths(f.Root, f.Path) }

// ReceiveChanges takes nothing in the files for anybody's word: the agent is told to write
// in them. It says when they cannot be read, the list above all, which the
// controller would take for finished.
func (f featureFiles) ReceiveChanges(time.Time) (Changes, error) {
	path := filepath.Join(filepath.Dir(f.Path), featureloop.ListName)
	data, _, err := read(path, maxListBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Changes{}, failure.New(failure.Usage, "put it back", "%s is gone: what is left to do is not known any more", DisplayPath(f.Root, path))
	}
	if err != nil {
		return Changes{}, err
	}
	if _, ok := featureloop.Open(data); !ok {
		return Changes{}, failure.New(failure.Usage, "put it back as it was", "%s is not a list of features any more", DisplayPath(f.Root, path))
	}
	_, _, err = readProgress(f.Path, DisplayPath(f.Root, f.Path))
	return Changes{}, err
}

// UpdateProgress brings the controller's lines up to date, whatever has been written there.
func (f featureFiles) UpdateProgress(m memory.Memory, _ time.Time) error { return f.set(m.State, "") }

// MarkEnded says how the loop has ended; all files stay.
func (f featureFiles) MarkEnded(m memory.Memory, _ string) error {
	return f.set(m.State, m.State.Outcome)
}

// CompleteProgress is the text of a progress.txt with the status that it has once all features
// pass: what is written when the loop has ended belongs to no commit.
func CompleteProgress(path string, text []byte) []byte {
	p, err := featureloop.Parse(path, text)
	if err != nil {
		return text // it is told of where it is read
	}
	return p.Set(featureloop.Values{Iteration: p.Iteration, MaxIterations: p.MaxIterations, Status: featureloop.Complete}).Bytes()
}

func (f featureFiles) set(s loop.State, o loop.Outcome) error {
	v := featureloop.Values{Iteration: s.Iteration, MaxIterations: s.Policy.Limits.Iterations, Status: featureloop.StatusOf(o)}
	old, info, err := readProgress(f.Path, DisplayPath(f.Root, f.Path))
	if err != nil || existingPath(filepath.Dir(f.Path)) == "" {
		return nil //nolint:nilerr // ReceiveChanges reported it
	}
	if info == nil {
		err = atomicfile.Write(f.Path, featureloop.New(v).Bytes(), 0o644)
	} else if set := old.Set(v); string(set.Bytes()) != string(old.Bytes()) {
		err = write(f.Path, set.Bytes())
	}
	if err != nil {
		return fmt.Errorf("keep the iteration and the status: %w", err)
	}
	return nil
}

func (f featureFiles) ProgressLine(s loop.State) string {
	t, _ := s.Task(s.Current)
	if t.IsOwn() {
		t = loop.Task{}
	}
	return featureloop.Iteration(s.Iteration, s.Policy.Limits.Iterations, t.ID, t.Title)
}

func (f featureFiles) EndLine(s loop.State) string {
	features := slices.DeleteFunc(slices.Clone(s.Tasks), func(t loop.Task) bool { return t.IsOwn() })
	switch s.Outcome {
	case loop.Verified:
		return featureloop.Verified(len(features))
	case loop.Iterations:
		var ids []string
		for _, t := range features {
			if t.Status != loop.Done {
				ids = append(ids, t.ID)
			}
		}
		return featureloop.LimitReached(s.Policy.Limits.Iterations, ids)
	}
	return ""
}

// FeatureFolder is a folder of the feature-list controller that a user named.
type FeatureFolder struct {
	Proposal
	File string // its progress.txt, absolute
	New  bool   // there is no such file yet
}

// NamedFeatureFolder returns the folder that a path names, its own or that of a file in
// it; nil if it names none. One that asks for no loop is an error.
func NamedFeatureFolder(path string, p Place, tracked func(path string) (bool, error)) (*FeatureFolder, error) {
	f, file, p := FormatOfPath(filepath.Clean(path), p)
	if f == nil || f.Name() != FeatureListName {
		return nil, nil //nolint:nilnil // it names none
	}
	p.RalphLoopDir = filepath.Dir(file) // the user's own word
	asks, err := f.Propose(file, p, SessionInfo{SessionStarted: time.Unix(0, 0), Now: time.Now(), Unattended: true, Tracked: tracked})
	if err != nil {
		return nil, err
	}
	if asks.Refused != "" {
		return nil, failure.New(failure.Usage, "", "%s", asks.Refused)
	}
	if asks.Skip {
		return nil, failure.New(failure.Usage,
			"in "+DisplayPath(p.Root, file)+", set Status to "+featureloop.InProgress+", and in the list \"passes\" of what is to be done to false",
			"%s asks for no loop: all its features pass, or its status is one of an end", DisplayPath(p.Root, filepath.Dir(file)))
	}
	return &FeatureFolder{Proposal: asks, File: file, New: existingPath(file) == ""}, nil
}

// HasPrompt reports whether a list of features is one of the controller's: its prompt
// lies beside it.
func HasPrompt(list string) bool {
	return filepath.Base(list) == featureloop.ListName && existingPath(filepath.Join(filepath.Dir(list), featureloop.PromptName)) != ""
}
