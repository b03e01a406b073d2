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

// Command is something a repository's file would have Pawl run: a gate, a set-up
// command, the agent's program, what is put into the environment of agent or gates, a plan's
// validation command, the command of another tool's verify loop, what loosens
// the guard.
type Command struct {
	Kind string `json:"kind"` // gate, setup, agent_command, agent_args, agent_env, gate_env, confine_hosts, notify, tracker, plan, verify, guard
	File string `json:"file"` // below the root, with slashes; absolute if it lies elsewhere
	Text string `json:"text"` // what would run, as a user should read it
}

// hash pins a command: kind, file and text, each with its length so that nothing
// can move from one to the other.
func (c Command) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s%d:%s", len(c.Kind), c.Kind, len(c.File), c.File, len(c.Text), c.Text))
	return hex.EncodeToString(sum[:])
}

// RepoCommands lists the commands among the settings that came out of the
// repository's own files and so need trust.
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
		add("agent_args", "agent_args", strings.Join(quoteAll(s.AgentArgs), " "))
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
		add("answer_within", "answer_within", "the agent's own proposals answer its questions after "+s.AnswerWithin.String())
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

// KindGuard is a Command that nothing runs: an entry that loosens the guard.
const KindGuard = "guard"

// KindNotify is a Command that is told about loops: a command, or a receiver elsewhere.
const KindNotify = "notify"

// KindTracker is a Command that reaches issues.
const KindTracker = "tracker"

// GuardCommands are the entries that loosen the guard, those of allow and then
// those of ask, each as a command; File is "" for those that are the user's own
// and need no trust.
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

func inFolder(dir, text string) string {
	if dir == "" {
		return text
	}
	return "cd " + dir + " && " + text
}

// VerifyCommand is the command of another tool's verify loop, whose state file
// lies at an absolute path. It runs in the folder dir, "" for the root; both are
// paths without links, as root is.
func VerifyCommand(root, file, dir, text string) Command {
	return Command{Kind: "verify", File: under(root, file), Text: inFolder(under(root, dir), text)}
}

// under is a path relative to the root, with slashes, or as it is where it lies
// elsewhere; "" for the root itself.
func under(root, path string) string {
	switch rel, err := filepath.Rel(root, path); {
	case path == "" || path == root:
		return ""
	case err == nil && filepath.IsLocal(rel):
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// Trust is the user's list of commands out of repositories that may run, in
// $PAWL_HOME/trust.json. A command that is changed is not on it.
type Trust struct{ path string }

// OpenTrust names the list in a $PAWL_HOME. It does no I/O.
func OpenTrust(pawlHome string) *Trust {
	return &Trust{path: filepath.Join(pawlHome, "trust.json")}
}

// trusted is the file: commands by repository root and hash. Only the hash counts,
// the rest is for people.
type trusted struct {
	Roots map[string]map[string]entry `json:"roots"`
}

type entry struct {
	Command
	At time.Time `json:"at"`
}

// Untrusted lists those of the commands that the user did not trust in the
// repository at root. If the list cannot be read none is trusted: all are
// returned, with the error.
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

// Replaced returns, for each changed command, the trusted one that it replaced, for a user to
// compare: a command of the same kind and file that is no longer in it. With several, those pair
// that begin with the same word, the last trusted first.
func (t *Trust) Replaced(root string, all, strange []Command) (map[Command]string, error) {
	list, err := t.read()
	if err != nil {
		return nil, err
	}
	type place struct{ kind, file string }
	gone := map[place][]entry{}
	for _, e := range list.Roots[root] {
		if !slices.Contains(all, e.Command) {
			at := place{e.Kind, e.File}
			gone[at] = append(gone[at], e)
		}
	}
	was := map[Command]string{}
	for at, entries := range gone {
		slices.SortFunc(entries, func(a, b entry) int {
			return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Text, b.Text))
		})
		news := slices.DeleteFunc(slices.Clone(strange), func(c Command) bool { return at != place{c.Kind, c.File} })
		alone := len(news) == 1 && len(entries) == 1
		for _, c := range news {
			i := slices.IndexFunc(entries, func(e entry) bool { return alone || sameProgram(e.Text, c.Text) })
			if i >= 0 {
				was[c] = entries[i].Text
				entries = slices.Delete(entries, i, i+1)
			}
		}
	}
	return was, nil
}

// sameProgram reports whether two commands begin with the same word.
func sameProgram(a, b string) bool {
	first, second := strings.Fields(a), strings.Fields(b)
	return len(first) > 0 && len(second) > 0 && first[0] == second[0]
}

// Add trusts the commands in the repository at root.
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
		list.Roots = map[string]map[string]entry{}
	}
	if list.Roots[root] == nil {
		list.Roots[root] = map[string]entry{}
	}
	for _, c := range commands {
		list.Roots[root][c.hash()] = entry{Command: c, At: time.Now().UTC()}
	}
	return atomicfile.WriteIndentedJSON(t.path, list)
}

func (t *Trust) read() (trusted, error) {
	var list trusted
	if err := store.CheckOwners(filepath.Dir(t.path), t.path); err != nil {
		return list, fmt.Errorf("read %s, so nothing is trusted: %w", t.path, err)
	}
	if err := atomicfile.ReadJSON(t.path, &list); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return trusted{}, failure.New(failure.Error, "fix it, or move it away and run pawl trust again", "read %s, so nothing is trusted: %w", t.path, err)
	}
	return list, nil
}
