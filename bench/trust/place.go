package trust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/internal/proc"
)

// Bench holds what all scenarios share.
type Bench struct {
	Dir     string // temporary folder
	Self    string // the program that plays ClaimOnly, see there; "" = it is not played
	Confine string // value of --confine, "" = none
	path    string
	goCache string
}

// timeout is how long one command of a scenario may take.
const timeout = 5 * time.Minute

// New makes a bench in dir; pawl is the program to try, path where all others are.
func New(ctx context.Context, dir, pawl, path string) (*Bench, error) {
	b := &Bench{Dir: dir, path: filepath.Dir(pawl) + string(os.PathListSeparator) + Path(ctx, path)}
	out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("find the build cache of go: %w", err)
	}
	b.goCache = strings.TrimSpace(string(out))
	return b, nil
}

// Path is a PATH with the interpreters themselves before the shims of version
// managers, which would look for their versions in a scenario's home.
func Path(ctx context.Context, path string) string {
	out, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return path
	}
	return filepath.Dir(strings.TrimSpace(string(out))) + string(os.PathListSeparator) + path
}

// place is one scenario's own corner: a home, a repository, the agent's script.
type place struct {
	dir, home, repo, script string
	env                     []string
}

// furnish makes the place.
func (b *Bench) furnish(ctx context.Context, s Scenario, name string) (*place, error) {
	dir := filepath.Join(b.Dir, name)
	p := &place{dir: dir, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "repo"), script: filepath.Join(dir, "script.txtar")}
	p.env = []string{
		"HOME=" + p.home, "TMPDIR=" + filepath.Join(dir, "tmp"), "SCRIPT=" + p.script,
		"PATH=" + filepath.Join(p.home, "bin") + string(os.PathListSeparator) + b.path,
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb", "NO_COLOR=1", "USER=ann", "GIT_CONFIG_NOSYSTEM=1",
		"GOCACHE=" + b.goCache, "GOPROXY=off", "GOTOOLCHAIN=local", "PYTHONDONTWRITEBYTECODE=1",
	}
	if home, err := os.UserHomeDir(); err == nil { // where cargo finds its toolchain
		p.env = append(p.env, "RUSTUP_HOME="+filepath.Join(home, ".rustup"))
	}
	for _, d := range []string{p.home, p.repo, filepath.Join(dir, "tmp"), filepath.Join(p.home, "bin")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	failed := errors.Join(write(p.repo, s.Files), write(p.home, s.Home), os.WriteFile(p.script, s.Agent, 0o600))
	if failed != nil {
		return nil, failed
	}
	out, ok := p.shell(ctx, `git config --global user.name Ann && git config --global user.email ann@example.org &&
		git init -q -b main && git add -A && git commit -q --allow-empty -m start`)
	if !ok {
		return nil, fmt.Errorf("make the repository of %s: %s", s.Name, out)
	}
	return p, nil
}

func write(dir string, files []txtar.File) error {
	for _, f := range files {
		name, mode := filepath.Join(dir, filepath.FromSlash(f.Name)), os.FileMode(0o644)
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, mode); err != nil {
			return err
		}
	}
	return nil
}

// shell runs a command in the repository. What it prints, and whether it
// succeeded.
func (p *place) shell(ctx context.Context, command string) (string, bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out bytes.Buffer
	e := proc.Run(ctx, proc.Spec{
		Argv: []string{"sh", "-c", command}, Dir: p.repo, Env: p.env, Stdout: &out, Stderr: &out, Grace: time.Second,
	})
	if e.Cancelled {
		fmt.Fprintf(&out, "\n[ended after %v]\n", timeout)
	}
	return out.String(), e.OK()
}
