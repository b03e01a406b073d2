package config

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/store"
)

// Command is an entry of a repository's file that needs trust, because Pawl would run it or it
// has other effects on the user's machine. Examples are gates, set-up commands, the agent's
// program, environment variables, a plan's validation commands, and entries that loosen the
// guard.
type Command struct {
	Kind string `json:"kind"` // gate, setup, agent_command, agent_args, agent_env, gate_env, confine_hosts, notify, tracker, plan, verify, guard
	File string `json:"file"` // relative to the root, with slashes; absolute if it is outside
	Text string `json:"text"` // the command as it is shown to the user
}

// hash returns the SHA-256 of kind, file and text. Each is preceded by its length, so that
// different commands cannot have the same input.
func (c Command) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s%d:%s", len(c.Kind), c.Kind, len(c.File), c.File, len(c.Text), c.Text))
	return hex.EncodeToString(sum[:])
}

// RepoCommands returns the commands of the settings that a repository's files set. They need
// trust.
func (s Settings) RepoCommands() []Command {
	var out []Command
	add := func(key, kind, text string) {
		if from := s.Sources[key]; from.Repo {
			out = append(out, Command{Kind: kind, File: from.File, Text: text})
		}
	}
	for _, g := range gate.Reviews(s.Gates) {
		if g.AgentCommand != "" {
			add("gates", "agent_command", g.AgentCommand)
		}
	}
	for _, g := range gate.Commands(s.Gates) {
		add("gates", "gate", inFolder(g.Dir, commandText(g)))
	}
	for _, command := range s.Worktree.Setup {
		add("worktree.setup", "setup", command)
	}
	if s.AgentCommand != "" {
		add("agent_command", "agent_command", s.AgentCommand)
	}
	if len(s.AgentArgs) > 0 {
		add("agent_args", "agent_args", strings.Join(quoteWords(s.AgentArgs), " "))
	}
	for _, name := range slices.Sorted(maps.Keys(s.AgentEnv)) {
		add("agent_env."+name, "agent_env", name+"="+s.AgentEnv[name])
	}
	for _, variable := range s.GateVars() {
		name, _, given := strings.Cut(variable, "=")
		if !given {
			variable += ", as it is set in your shell"
		}
		add("gate_env."+name, "gate_env", variable)
	}
	for _, c := range s.GuardCommands() {
		if c.File != "" {
			out = append(out, c)
		}
	}
	if s.Merge == MergePull {
		add("merge", "merge", "git push && gh pr create")
	}
	if s.Tracker.Command != "" {
		add("tracker.command", KindTracker, s.Tracker.Command)
	}
	if s.AnswerWithin > 0 {
		add("answer_within", "answer_within", "the agent's proposals answer its questions after "+s.AnswerWithin.String())
	}
	s.Notify.each(func(key, text string) {
		if r, err := notice.ParseReceiver(text); err == nil && !r.IsLocal() {
			add("notify."+key, KindNotify, r.String())
		}
	})
	for _, host := range s.ConfineHosts {
		add("confine_hosts", "confine_hosts", host)
	}
	return out
}

// KindGuard is the kind of an entry that loosens the guard. Pawl does not run it.
const KindGuard = "guard"

// KindNotify is the kind of a receiver of notices: a command, or a receiver on another machine.
const KindNotify = "notify"

// KindTracker is the kind of the command that reads and claims issues.
const KindTracker = "tracker"

// GuardCommands returns the entries that loosen the guard as commands, first allow, then ask. File
// is "" for entries from outside the repository's files, which need no trust.
func (s Settings) GuardCommands() []Command {
	var out []Command
	for _, l := range []struct {
		key     string
		entries []string
	}{{"allow", s.Guard.Allow}, {"ask", s.Guard.Ask}} {
		for i, pattern := range l.entries {
			c := Command{Kind: KindGuard, Text: l.key + " " + pattern}
			if from := s.Sources[fmt.Sprintf("guard.%s[%d]", l.key, i)]; from.Repo {
				c.File = from.File
			}
			out = append(out, c)
		}
	}
	return out
}

// inFolder returns a shell command that runs text in the folder, or text if dir is empty.
func inFolder(dir, text string) string {
	if dir == "" {
		return text
	}
	return "cd " + dir + " && " + text
}

// VerifyCommand returns the command of another tool's verify loop. file is the absolute path of
// that loop's state file. The command runs in the folder dir, or in root if dir is "". All
// three paths must have their symlinks resolved.
func VerifyCommand(root, file, dir, text string) Command {
	return Command{Kind: "verify", File: pathUnder(root, file), Text: inFolder(pathUnder(root, dir), text)}
}

// pathUnder returns a path relative to the root, with slashes. It returns a path outside the root in
// full, and "" for the root itself.
func pathUnder(root, path string) string {
	switch rel, err := filepath.Rel(root, path); {
	case path == "" || path == root:
		return ""
	case err == nil && filepath.IsLocal(rel):
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// Trust is the user's list of trusted commands of repositories, in $PAWL_HOME/trust.json. A
// changed command is no longer trusted.
type Trust struct{ path string }

// OpenTrust returns the list in the folder pawlHome. It does not read the file.
func OpenTrust(pawlHome string) *Trust {
	return &Trust{path: filepath.Join(pawlHome, "trust.json")}
}

// trustFile is the content of the file: commands by repository root and hash. Only the hash
// decides trust. The rest shows the user what was trusted.
type trustFile struct {
	Roots map[string]map[string]trustEntry `json:"roots"`
}

// trustEntry is a trusted command and the time when the user trusted it.
type trustEntry struct {
	Command
	At time.Time `json:"at"`
}

// Untrusted returns the commands that the user has not trusted in the repository at root. If
// the list cannot be read, it returns all commands and the error.
func (t *Trust) Untrusted(root string, commands []Command) ([]Command, error) {
	list, err := t.read()
	if err != nil {
		return commands, err
	}
	var out []Command
	for _, c := range commands {
		if _, ok := list.Roots[root][c.hash()]; !ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// Replaced returns for each changed command the text of the trusted one that it replaced, so
// that the user can compare them. That is a command of the same kind and file that is no longer
// in all. If there are several, Replaced pairs commands that begin with the same word, the last
// trusted first.
func (t *Trust) Replaced(root string, all, strange []Command) (map[Command]string, error) {
	list, err := t.read()
	if err != nil {
		return nil, err
	}
	type place struct{ kind, file string }
	gone := map[place][]trustEntry{}
	for _, e := range list.Roots[root] {
		if !slices.Contains(all, e.Command) {
			at := place{e.Kind, e.File}
			gone[at] = append(gone[at], e)
		}
	}
	was := map[Command]string{}
	for at, entries := range gone {
		slices.SortFunc(entries, func(a, b trustEntry) int {
			return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Text, b.Text))
		})
		news := slices.DeleteFunc(slices.Clone(strange), func(c Command) bool { return at != place{c.Kind, c.File} })
		alone := len(news) == 1 && len(entries) == 1
		for _, c := range news {
			program := strings.Fields(c.Text + " ")
			i := slices.IndexFunc(entries, func(e trustEntry) bool {
				first := strings.Fields(e.Text)
				return alone || len(first) > 0 && len(program) > 0 && first[0] == program[0]
			})
			if i >= 0 {
				was[c] = entries[i].Text
				entries = slices.Delete(entries, i, i+1)
			}
		}
	}
	return was, nil
}

// Add adds the commands of the repository at root to the list. It locks the file for that, and
// waits up to 5 seconds for the lock.
func (t *Trust) Add(ctx context.Context, root string, commands []Command) error {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	lock := flock.New(t.path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return fmt.Errorf("trust: lock %s: %w", t.path, err)
	}
	return errors.Join(t.add(root, commands), lock.Unlock())
}

func (t *Trust) add(root string, commands []Command) error {
	list, err := t.read()
	if err != nil {
		return err
	}
	if list.Roots == nil {
		list.Roots = map[string]map[string]trustEntry{}
	}
	if list.Roots[root] == nil {
		list.Roots[root] = map[string]trustEntry{}
	}
	for _, c := range commands {
		list.Roots[root][c.hash()] = trustEntry{Command: c, At: time.Now().UTC()}
	}
	return atomicfile.WriteIndentedJSON(t.path, list)
}

func (t *Trust) read() (trustFile, error) {
	var list trustFile
	if err := store.CheckOwners(filepath.Dir(t.path), t.path); err != nil {
		return list, fmt.Errorf("read %s, so nothing is trusted: %w", t.path, err)
	}
	if err := atomicfile.ReadJSON(t.path, &list); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return trustFile{}, failure.New(failure.Error, "fix it, or move it away and run pawl trust again", "read %s, so nothing is trusted: %w", t.path, err)
	}
	return list, nil
}
