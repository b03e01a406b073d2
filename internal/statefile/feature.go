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

// featureList is the format of the feature-list controller: a folder with a list, and a state file
// progress.txt that may be missing. The list is the loop's plan, so the runner sets its marks.
type featureList struct{}

// FeatureListName is the name of that format. Its agents claim by marks in the plan.
const FeatureListName = "feature-list"

func (featureList) Name() string { return FeatureListName }

// Find returns the progress.txt of the folder that the user named, else of the current one, else of
// the only one. If several folders are possible, it returns the folder that contains them.
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
	dirs := featureFolders(all)
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

// featureFolders returns the folders in dir that have a list of features. Links to the same folder
// count once.
func featureFolders(dir string) []string {
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

// readProgress reads a progress.txt. If it does not exist, the result is empty and has no FileInfo.
// Errors contain name.
func readProgress(path, name string) (*featureloop.Progress, fs.FileInfo, error) {
	data, info, err := readFile(path, featureloop.MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	p, err := featureloop.Parse(name, data)
	return p, info, err
}

func (f featureList) Propose(path string, p Place, c SessionInfo) (Proposal, error) {
	if filepath.Base(path) != featureloop.ProgressName {
		return f.severalFolders(path, p, c)
	}
	dir := filepath.Dir(path)
	list := filepath.Join(dir, featureloop.ListName)
	progress, why, err := f.progressToFollow(path, p, c)
	if progress == nil {
		return Proposal{Skip: why == "" && err == nil, Refused: why}, err
	}
	if err := checkFeatureList(list, p); err != nil {
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

// checkFeatureList returns what is wrong with a list from which no plan can be made.
func checkFeatureList(path string, p Place) error {
	dir, name := filepath.Dir(path), DisplayPath(p.Root, path)
	if existingPath(dir) == "" && p.FeatureLoopDir() != "" {
		return failure.New(failure.Usage, "create the folder, or start the client without the variable", "RALPH_LOOP_DIR is %s, and there is no such folder", p.RalphLoopDir)
	}
	data, _, err := readFile(path, maxListBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.Usage, "write the list, or point RALPH_LOOP_DIR to the folder that has it", "there is no %s", name)
	}
	if err != nil {
		return err
	}
	return featureloop.ValidateList(name, data)
}

// agentMayHaveWritten reports whether the session's agent may have created the folder, its list or
// its prompt. The user did not agree to unattended sessions by such files. The agent is expected to
// write progress.txt and tick the list.
func (c SessionInfo) agentMayHaveWritten() bool {
	return c.ByAgent == nil || c.ByAgent(featureloop.ProgressName, featureloop.ListName, featureloop.PromptName, "ralph-loops")
}

// progressToFollow reads the progress.txt at path. It returns nil if the session may not follow its
// folder, and why; "" needs no message. Unreadable files are only an error if it might.
func (featureList) progressToFollow(path string, p Place, c SessionInfo) (progress *featureloop.Progress, why string, err error) {
	progress, info, bad := readProgress(path, DisplayPath(p.Root, path))
	list := filepath.Join(filepath.Dir(path), featureloop.ListName)
	data, listInfo, err := readFile(list, maxListBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		bad = errors.Join(bad, err)
	}
	if info == nil { // then the list says when and by whom the loop was started
		path, info = list, listInfo
	}
	if progress == nil || progress.Bytes() == nil {
		progress, _ = featureloop.Parse(DisplayPath(p.Root, path), nil)
	}
	about := featureloop.FolderContext{
		Chosen: p.FeatureLoopDir() != "", SessionStarted: c.SessionStarted, Now: c.Now, Outside: !isInside(p.Root, filepath.Dir(path)),
		StartCommand: c.startHint(DisplayPath(p.Root, path)),
	}
	var readable bool
	if about.Open, readable = featureloop.CountOpen(data); !readable {
		about.Open = -1 // reading it as a plan reports the error
	}
	if info != nil {
		about.Modified = info.ModTime()
	}
	if info != nil && !about.Outside {
		if about.Tracked, err = c.Tracked(path); err != nil {
			return nil, "", err
		}
	}
	ok, why := featureloop.MayFollow(progress, about)
	if ok {
		why = controllerHookFile(p.Root, p.ClientConfig)
	}
	if !ok || why != "" {
		return nil, why, nil
	}
	if bad != nil {
		return nil, "", bad
	}
	return progress, "", nil
}

// maxListBytes limits a list, in bytes. It is the same as planfile.MaxSize.
const maxListBytes = 20 << 20

// severalFolders proposes no loop, and names the folders from which the user has to choose.
func (f featureList) severalFolders(all string, p Place, c SessionInfo) (Proposal, error) {
	var names []string
	for _, dir := range featureFolders(all) {
		if progress, why, _ := f.progressToFollow(filepath.Join(dir, featureloop.ProgressName), p, c); progress != nil || why != "" {
			names = append(names, DisplayPath(p.Root, dir))
		}
	}
	if len(names) == 0 {
		return Proposal{Skip: true}, nil
	}
	return Proposal{Refused: fmt.Sprintf("%s holds several loops: start the client with RALPH_LOOP_DIR=%s, or make %s a link to the right one",
		DisplayPath(p.Root, all), strings.Join(names, " or "), featureloop.Current)}, nil
}

// featureGoal returns the text of RALPH_PROMPT.md. Without that file it returns "": then the list
// alone is the goal.
func featureGoal(dir, root string) (string, error) {
	path := filepath.Join(dir, featureloop.PromptName)
	data, _, err := readFile(path, featureloop.MaxSize)
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

// controllerHookFile returns why the controller's Stop hook has to be removed first, "" if the
// settings have no such hook.
func controllerHookFile(root, config string) string {
	path := readClientSettings(root, config).stopHookFile("ralph-loop-controller")
	if path == "" {
		return ""
	}
	return "a Stop hook in " + DisplayPath(root, path) + " controls such loops; remove it to let pawl follow the loop"
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

// ReceiveChanges ignores what the files say, since the agent is told to write in them. It returns
// an error if they cannot be read: the controller would read a missing list as finished.
func (f featureFiles) ReceiveChanges(time.Time) (Changes, error) {
	path := filepath.Join(filepath.Dir(f.Path), featureloop.ListName)
	data, _, err := readFile(path, maxListBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Changes{}, failure.New(failure.Usage, "restore it", "%s was deleted, so the open tasks are unknown", DisplayPath(f.Root, path))
	}
	if err != nil {
		return Changes{}, err
	}
	if _, ok := featureloop.CountOpen(data); !ok {
		return Changes{}, failure.New(failure.Usage, "restore it", "%s is now not a list of features", DisplayPath(f.Root, path))
	}
	_, _, err = readProgress(f.Path, DisplayPath(f.Root, f.Path))
	return Changes{}, err
}

// UpdateProgress updates the controller's lines, whatever they contain.
func (f featureFiles) UpdateProgress(m memory.Memory, _ time.Time) error {
	return f.writeStatus(m.State, "")
}

// MarkEnded writes how the loop ended. All files stay.
func (f featureFiles) MarkEnded(m memory.Memory, _ string) error {
	return f.writeStatus(m.State, m.State.Outcome)
}

// IsFeatureProgress reports whether a progress file has the controller's lines. Agents write others
// beside it.
func IsFeatureProgress(path string) bool { return filepath.Base(path) == featureloop.ProgressName }

// CompleteProgress returns the text of a progress.txt with the status for "all features pass". It
// is used before the last commit, since MarkEnded writes after it.
func CompleteProgress(path string, text []byte) []byte {
	p, err := featureloop.Parse(path, text)
	if err != nil {
		return text // readers report the error
	}
	return p.Set(featureloop.Values{Iteration: p.Iteration, MaxIterations: p.MaxIterations, Status: featureloop.Complete}).Bytes()
}

func (f featureFiles) writeStatus(s loop.State, o loop.Outcome) error {
	v := featureloop.Values{Iteration: s.Iteration, MaxIterations: s.Policy.Limits.Iterations, Status: featureloop.StatusOf(o)}
	old, info, err := readProgress(f.Path, DisplayPath(f.Root, f.Path))
	if err != nil || existingPath(filepath.Dir(f.Path)) == "" {
		return nil //nolint:nilerr // ReceiveChanges reported it
	}
	if info == nil {
		err = atomicfile.Write(f.Path, featureloop.New(v).Bytes(), 0o644)
	} else if set := old.Set(v); string(set.Bytes()) != string(old.Bytes()) {
		err = writeFile(f.Path, set.Bytes())
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
	return featureloop.IterationMessage(s.Iteration, s.Policy.Limits.Iterations, t.ID, t.Title)
}

func (f featureFiles) EndLine(s loop.State) string {
	features := slices.DeleteFunc(slices.Clone(s.Tasks), func(t loop.Task) bool { return t.IsOwn() })
	switch s.Outcome {
	case loop.Verified:
		return featureloop.VerifiedMessage(len(features))
	case loop.Iterations:
		var ids []string
		for _, t := range features {
			if t.Status != loop.Done {
				ids = append(ids, t.ID)
			}
		}
		return featureloop.LimitReachedMessage(s.Policy.Limits.Iterations, ids)
	}
	return ""
}

// FeatureFolder is a folder of the feature-list controller that a user named.
type FeatureFolder struct {
	Proposal
	File string // its progress.txt, absolute
	New  bool   // the file does not exist yet
}

// NamedFeatureFolder returns the folder that a path names, or the folder of a file in it. It
// returns nil for other paths, and an error if the folder asks for no loop.
func NamedFeatureFolder(path string, p Place, tracked func(path string) (bool, error)) (*FeatureFolder, error) {
	f, file, p := FormatOfPath(filepath.Clean(path), p)
	if f == nil || f.Name() != FeatureListName {
		return nil, nil //nolint:nilnil // it names none
	}
	p.RalphLoopDir = filepath.Dir(file) // the user named it
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
			"%s starts no loop: all its features pass, or its status is final", DisplayPath(p.Root, filepath.Dir(file)))
	}
	return &FeatureFolder{Proposal: asks, File: file, New: existingPath(file) == ""}, nil
}

// HasControllerPrompt reports whether the controller's prompt is beside a list of features.
func HasControllerPrompt(list string) bool {
	return filepath.Base(list) == featureloop.ListName && existingPath(filepath.Join(filepath.Dir(list), featureloop.PromptName)) != ""
}
