package faults

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// project is what the loop works on. The agent does not do the second task right
// at first. It is a process of its own, so that every fault is Pawl's.
const project = `
-- repo/plan.md --
# Plan

- [ ] write f1
- [ ] write f2
-- repo/gate.sh --
#!/bin/sh
for t in t_*.sh; do
	[ ! -f "$t" ] || sh "$t" || exit 1
done
-- repo/.gitignore --
*.log
-- home/agent.sh --
#!/bin/sh
n=$(sed -n 's/^id: //p')
echo "grep -q work$n f$n" >t_f$n.sh
echo "work$n" >f$n
if [ $n = 2 ] && [ ! -f "$HOME/tried" ]; then
	touch "$HOME/tried"
	echo nothing >f2
fi
echo '<promise>DONE</promise>'
`

// commit is how a project becomes a repository.
const commit = `git config --global user.name Ann && git config --global user.email ann@example.org &&
	chmod 755 gate.sh "$HOME/agent.sh" && git init -q -b main && git add -A && git commit -q -m start`

// furnish puts work of the user's into it.
const furnish = ` && git branch other && git tag v1 && echo stashed >gate.sh && git stash -q &&
	echo mine >notes.txt && echo mine >keep.log`

// timeout is how long one command may take.
const timeout = 2 * time.Minute

// place is one run's own corner.
type place struct {
	dir, repo string
	env       []string
}

// newPlace names the corner in dir, where nothing needs to be yet.
func newPlace(dir, path string) *place {
	home := filepath.Join(dir, "home")
	return &place{dir: dir, repo: filepath.Join(dir, "repo"), env: []string{
		"HOME=" + home, "PAWL_HOME=" + filepath.Join(dir, "state"), "TMPDIR=" + filepath.Join(dir, "tmp"), "PATH=" + path,
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb", "NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1",
	}}
}

// write makes a project by a command.
func (p *place) write(ctx context.Context, project, command string) error {
	for _, f := range txtar.Parse([]byte(project)).Files {
		name := filepath.Join(p.dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "tmp"), 0o755); err != nil {
		return err
	}
	if out, err := p.run(ctx, "sh", "-c", command); err != nil {
		return fmt.Errorf("make the project: %w: %s", err, out)
	}
	return nil
}

// run runs a command in the repository, and gives what it printed.
func (p *place) run(ctx context.Context, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out bytes.Buffer
	cmd := p.command(ctx, &out, argv...)
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("%s does not end: %w", strings.Join(argv, " "), ctx.Err())
	}
	return out.String(), err
}

// command is a command in a process group of its own, which ends with the context.
func (p *place) command(ctx context.Context, out *bytes.Buffer, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.repo, p.env, out, out
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	return cmd
}

// git returns what git prints in the repository.
func (p *place) git(ctx context.Context, args ...string) string {
	out, err := p.run(ctx, append([]string{"git"}, args...)...)
	if err != nil {
		return fmt.Sprintf("git %s: %v: %s", args[0], err, out)
	}
	return strings.TrimSpace(out)
}

// left are the processes that were started here and live.
func (p *place) left() []string {
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, []byte("PAWL_HOME="+filepath.Join(p.dir, "state")+"\x00")) {
			continue
		}
		argv, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil && len(argv) > 0 { // a zombie has none
			found = append(found, filepath.Base(dir)+" "+string(bytes.ReplaceAll(argv, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// crashed reports whether the output is that of a Go program that panicked.
func crashed(out string) bool {
	return strings.Contains(out, "goroutine ") && (strings.Contains(out, "panic: ") || strings.Contains(out, "fatal error: "))
}

// killed reports whether a command was ended by a signal.
func killed(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}
