package record

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/store"
)

// GuardConfig is what the configuration and the plan add to the guard's rules, as it was
// at the loop's start.
type GuardConfig struct {
	Allow             []guard.Pattern `json:"allow,omitempty"` // the configuration's rules
	Deny              []guard.Pattern `json:"deny,omitempty"`
	Ask               []guard.Pattern `json:"ask,omitempty"`
	ProtectedBranches []string        `json:"branches,omitempty"` // protected besides the default branch
	// the plan, in which the agent may change the checkboxes only, relative to the root,
	// with slashes; "": there is none, or ticking is how the agent claims
	TickOnly string `json:"tick_only,omitempty"`
	// another tool's state file whose edit or removal pauses or ends the loop, relative to
	// the root, with slashes; "": there is none. The agent changes it only if the user's
	// own turn asks for that.
	StateFile string `json:"state_file,omitempty"`
}

// GuardDirs are the folders that a loop's guard must know, all absolute.
type GuardDirs struct {
	Root     string // the work tree that the agent works in
	StateDir string // Pawl's own folder, which the agent may not use
	HomeDir  string // the user's
	TempDir  string // for temporary files; may be written although it is outside the work tree
}

// TurnScope is what the guard's rules of a turn depend on.
type TurnScope struct {
	Task      string   // current task; "": none with a scope
	Protected []string // files that the agent must not edit, see ReadProtected
	Approved  []string // files that the user lets the agent change, see loop.State
}

// protectedBranches are the names and globs of the branches that only the user changes.
func (s Spec) protectedBranches() []string {
	return append([]string{s.DefaultBranch, "main", "master"}, s.Guard.ProtectedBranches...)
}

// IsProtectedBranch reports whether only the user changes a branch.
func (s Spec) IsProtectedBranch(branch string) bool {
	return slices.ContainsFunc(s.protectedBranches(), func(glob string) bool {
		ok, err := path.Match(glob, branch)
		return ok && err == nil
	})
}

// GuardRules returns the guard's rules for a turn.
func (s Spec) GuardRules(dirs GuardDirs, turn TurnScope) guard.Rules {
	absolute := func(file string) string { return filepath.Join(dirs.Root, filepath.FromSlash(file)) }
	r := guard.Rules{
		Root: dirs.Root, StateDir: dirs.StateDir, Home: dirs.HomeDir, Branch: s.Branch, Scope: s.taskScope(turn),
		ProtectedBranches: s.protectedBranches(),
		WritableFolders:   []string{dirs.TempDir, ResolvePath(dirs.TempDir)},
		Allow:             s.Guard.Allow, Deny: s.Guard.Deny, Ask: s.Guard.Ask,
		HasPawlTools: s.Tools, ResolveLinks: ResolvePath, Exists: exists, BranchOf: CheckedOutBranch,
	}
	allowTempDir(&r)
	for _, file := range turn.Protected {
		r.Protected = append(r.Protected, absolute(file))
	}
	if s.Guard.StateFile != "" {
		r.Protected = append(r.Protected, absolute(s.Guard.StateFile))
	}
	if s.Guard.TickOnly != "" {
		r.Plans = []string{absolute(s.Guard.TickOnly)}
	}
	return r
}

// allowTempDir adds the system's folder for temporary files, which agents use whatever
// the environment names. If the work tree itself is in there, other users' files may be
// too: then only new files there are the agent's.
func allowTempDir(r *guard.Rules) {
	const shared, resolved = "/tmp", "/private/tmp" // on macOS
	if runtime.GOOS == "windows" {
		return
	}
	dirs := []string{shared, ResolvePath(shared)}
	if root := filepath.ToSlash(r.Root) + "/"; strings.HasPrefix(root, shared+"/") || strings.HasPrefix(root, resolved+"/") {
		r.SharedFolders = dirs
	} else {
		r.WritableFolders = append(r.WritableFolders, dirs...)
	}
}

// taskScope returns the files that the task may change: those that the plan names, and
// those that the user has approved by name since.
func (s Spec) taskScope(turn TurnScope) []string {
	scope := slices.Clone(s.Scopes[turn.Task])
	if len(scope) == 0 {
		return nil
	}
	for _, file := range turn.Approved {
		if file != loop.AllTests {
			scope = append(scope, "./"+file)
		}
	}
	return scope
}

// SessionGuardRules returns the rules of a loop in a session, for a turn of the loop or
// of the user, which has no task. The hook asks for them at every tool call, so no more
// of the loop is read than needed.
func SessionGuardRules(l *store.Loop, dirs GuardDirs, userTurn bool) (guard.Rules, error) {
	var stored struct {
		Root string `json:"root"`
		Spec struct {
			Branch string      `json:"branch"`
			Home   string      `json:"default_branch"`
			Guard  GuardConfig `json:"guard"`
			Tools  bool        `json:"tools"`
			PlanSettings
		} `json:"spec"`
	}
	if err := l.DecodeSpec(&stored); err != nil {
		return guard.Rules{}, err
	}
	dirs.Root = stored.Root
	if userTurn {
		stored.Spec.Guard.StateFile = ""
	}
	settings, err := readPlanSettings(l, stored.Spec.PlanSettings)
	if err != nil {
		return guard.Rules{}, err
	}
	s := Spec{
		PlanSettings:   settings,
		Repository:     Repository{Branch: stored.Spec.Branch, DefaultBranch: stored.Spec.Home},
		Protection:     Protection{Guard: stored.Spec.Guard},
		SessionOptions: SessionOptions{Tools: stored.Spec.Tools},
	}
	protected, err := ReadProtected(l)
	turn := TurnScope{Protected: protected}
	if err == nil && len(s.Scopes) > 0 && !userTurn {
		var m memory.Memory
		m, _, err = Load(l)
		turn.Task, turn.Approved = m.State.Current, m.State.Approved
	}
	return WithHistory(s.GuardRules(dirs, turn), l), err
}

// protectedPath returns the file with the list of protected files.
func protectedPath(l *store.Loop) string { return filepath.Join(l.Dir, "protected.json") }

// SaveProtectedOnce stores which files decide about the loop's work, unless it is stored
// already. Paths are relative to the root, with slashes. The guard denies changes of
// these files.
func SaveProtectedOnce(l *store.Loop, paths []string) error {
	if _, err := os.Lstat(protectedPath(l)); err == nil {
		return nil
	}
	return SaveProtected(l, paths)
}

// SaveProtected replaces the list: an approval of the user's removes files, a rejection
// adds them again.
func SaveProtected(l *store.Loop, paths []string) error {
	if err := atomicfile.WriteJSON(protectedPath(l), paths); err != nil {
		return fmt.Errorf("save protected files: %w", err)
	}
	return nil
}

// ReadProtected returns the files that SaveProtected stored; none before the loop has started.
func ReadProtected(l *store.Loop) ([]string, error) {
	var paths []string
	if err := atomicfile.ReadJSON(protectedPath(l), &paths); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read protected files: %w", err)
	}
	return paths, nil
}

// WorkGlobs returns the globs of the files that these tasks may change without approval:
// what the user calls work, and their scopes.
func (s Spec) WorkGlobs(tasks []string) []string {
	globs := slices.Clone(s.Work)
	for _, id := range tasks {
		globs = append(globs, s.Scopes[id]...)
	}
	return globs
}

// TaskText returns the text of these tasks, or of all tasks if the list is empty: the
// goal, and what the tasks say.
func (s Spec) TaskText(tasks []string) string {
	text := []string{s.Prompt}
	if s.Tracker != nil { // anybody may have written the titles: they allow nothing
		return s.Prompt
	}
	for _, id := range slices.Sorted(maps.Keys(s.TaskTexts)) {
		if len(tasks) == 0 || slices.Contains(tasks, id) {
			text = append(text, s.TaskTexts[id])
		}
	}
	return strings.Join(text, "\n")
}

// MayChangeTests reports whether the user lets one of these tasks change old tests.
func (s Spec) MayChangeTests(tasks []string) bool {
	return slices.ContainsFunc(slices.Concat(s.TestChangeTasks, s.PlanTestTasks), func(g string) bool { return g == "*" || slices.Contains(tasks, g) })
}
