package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// HookRequest describes a commit for hooks.
type HookRequest struct {
	Tree        string // tree to commit, see Overlay
	Message     string
	MessageOnly bool          // only run hooks that see the message but not the tree
	Timeout     time.Duration // for each hook; 0 = 10 minutes
}

// HookResult is the result of the user's hooks.
type HookResult struct {
	Failed   string // name of the hook that failed, or ""
	ExitCode int    // of the hook that failed; -1 if it was killed or could not start
	TimedOut bool
	Output   string // end of the hooks' output
	Message  string // as changed by prepare-commit-msg and commit-msg
	Ran      bool   // there was a hook
}

// RefusesMessage reports whether the hook that failed checks the message, which the author of the
// tree cannot change.
func (h HookResult) RefusesMessage() bool {
	return h.Failed == "prepare-commit-msg" || h.Failed == "commit-msg"
}

const (
	hookTime  = 10 * time.Minute
	hookGrace = 5 * time.Second
)

// RunHooks runs the user's pre-commit, prepare-commit-msg and commit-msg hooks as git commit -m
// would. They run in the root, with an index that contains the tree to commit as staged files. The
// user's index does not change. The next Snapshot sees what a hook changes in the work tree. A hook
// that fails is a result, not an error.
func (r *Repo) RunHooks(ctx context.Context, q HookRequest) (result HookResult, err error) {
	defer wrap(&err, "run commit hooks")
	result.Message = q.Message
	hooks, err := r.hooksDir(ctx)
	file := filepath.Join(r.gitDir, messageFile)
	due := slices.DeleteFunc([][]string{{"pre-commit"}, {"prepare-commit-msg", file, "message"}, {"commit-msg", file}}, func(argv []string) bool {
		return q.MessageOnly && argv[0] == "pre-commit" || !hasHook(hooks, argv[0])
	})
	if err != nil || len(due) == 0 {
		return result, err
	}
	result.Ran = true
	tree, err := r.TreeOf(ctx, q.Tree)
	if err != nil {
		return result, err
	}
	s, err := r.newScratchDir()
	if err != nil {
		return result, err
	}
	defer s.close()
	if _, err := r.seed(ctx, s, true); err != nil {
		return result, err
	}
	if _, err := r.run(ctx, call{args: []string{"read-tree", "--reset", tree}, index: s.index}); err != nil {
		return result, err
	}
	restore, err := r.writeMessage([]byte(strings.TrimSpace(sanitize(q.Message)) + "\n"))
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, restore()) }()
	out := proc.Tail{MaxBytes: 4 * tailBytes}
	for _, argv := range due {
		ok, err := r.runHook(ctx, hook{argv: argv, dir: hooks, index: s.index, timeout: q.Timeout}, &result, &out)
		result.Output = strings.TrimSpace(out.String())
		if err != nil || !ok {
			return result, err
		}
	}
	text, err := workfile.Read(r.gitDir, messageFile, maxConfigBytes)
	if err != nil {
		return result, err
	}
	result.Message = strings.TrimSpace(sanitize(string(text)))
	return result, nil
}

// messageFile is where git commit writes the message. Hooks such as commitlint expect it there.
const messageFile = "COMMIT_EDITMSG"

// writeMessage writes the message for the hooks. restore puts the old one back: the user may have an
// editor open for a commit.
func (r *Repo) writeMessage(text []byte) (restore func() error, err error) {
	old, errOld := workfile.Read(r.gitDir, messageFile, maxConfigBytes)
	if err := workfile.Write(r.gitDir, messageFile, text, 0o644); err != nil {
		return nil, err
	}
	return func() error {
		if errOld != nil {
			return workfile.RemoveAll(r.gitDir, messageFile)
		}
		return workfile.Write(r.gitDir, messageFile, old, 0o644)
	}, nil
}

// hook describes one hook to run.
type hook struct {
	argv    []string // name of the hook, then its arguments
	dir     string   // folder of the hooks
	index   string
	timeout time.Duration
}

func (r *Repo) runHook(ctx context.Context, h hook, result *HookResult, out *proc.Tail) (ok bool, err error) {
	if h.timeout <= 0 {
		h.timeout = hookTime
	}
	bounded, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	// On Windows git knows how to start a script. Elsewhere, git hook run would only be another
	// process, and is new in 2.36.
	argv := append([]string{filepath.Join(h.dir, h.argv[0])}, h.argv[1:]...)
	if onWindows {
		argv = append([]string{"git", "hook", "run", h.argv[0], "--"}, h.argv[1:]...)
	}
	env := append(scrubEnv((&exec.Cmd{}).Environ()), "GIT_INDEX_FILE="+h.index, "GIT_EDITOR=:", "GIT_PREFIX=", "GIT_TERMINAL_PROMPT=0")
	exit := proc.Run(bounded, proc.Spec{Argv: slices.Concat(r.hooksBy, argv), Dir: r.root, Env: env, Stdout: out, Stderr: out, Grace: hookGrace})
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if exit.OK() {
		return true, nil
	}
	result.Failed, result.ExitCode, result.TimedOut = h.argv[0], exit.Code, bounded.Err() != nil
	if exit.Err != nil {
		fmt.Fprintln(out, exit.Err)
	}
	return false, nil
}

// hooksDir returns the folder of the user's hooks, as set by core.hooksPath.
func (r *Repo) hooksDir(ctx context.Context) (string, error) {
	if _, set, err := r.setting(ctx, "core.hookspath"); err != nil || !set {
		return filepath.Join(r.commonDir, "hooks"), err
	}
	out, err := r.run(ctx, call{args: []string{"config", "--type=path", "-z", "core.hooksPath"}, hooks: true})
	if isExitOne(err) {
		return filepath.Join(r.commonDir, "hooks"), nil
	}
	dir := strings.TrimSuffix(string(out), "\x00")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.root, dir) // the folder in which git runs hooks
	}
	return dir, err
}

// hasHook reports whether there is such a hook. Like git, it ignores hooks that are not executable.
func hasHook(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil || info.IsDir() {
		return false
	}
	return onWindows || info.Mode()&0o111 != 0
}
