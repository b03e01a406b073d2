package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/autostart"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/install"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/term"
)

// settingsArgs name a settings file.
type settingsArgs struct {
	Agent  string `arg:"" enum:"claude,service" help:"claude; or service, which resumes background loops after a restart (Linux, macOS)"`
	Scope  string `enum:"user,project,local,plugin" default:"user" placeholder:"SCOPE" help:"user (all your sessions), project (everyone here), local (you, here) or plugin"`
	DryRun bool   `help:"show what would change; change nothing"`
}

type installCmd struct {
	settingsArgs
	Verbose bool `help:"with --dry-run, show each changed line"`
	Yes     bool `help:"raise Claude Code's limit on Stop-hook continuations without asking (project, local)"`
	OnlyCap bool `help:"only raise that limit; the hooks are installed elsewhere (project, local)"`

	GuardBlocks bool `help:"block every tool call that Pawl's hook does not answer (project, local)"`
}

// request returns the request for the named settings file.
func (c *settingsArgs) request(a *app) (install.Request, error) {
	scope := install.Scope(c.Scope)
	path, err := scope.Path(a.root(), a.env.ClientConfig())
	if err == nil && scope == install.Project && isSameFile(a.root(), a.env.Home) {
		err = failure.New(failure.Usage, "leave --scope out", "the project settings of your home folder are your own, for all sessions")
	}
	return install.Request{Scope: scope, Path: path, Home: a.env.PawlHome, DryRun: c.DryRun}, err
}

// Run adds the hooks to the settings and prints what changed.
func (c *installCmd) Run(ctx context.Context, a *app) error {
	scope := install.Scope(c.Scope)
	switch {
	case c.Agent == serviceName && (scope != install.User || c.Yes || c.OnlyCap || c.GuardBlocks):
		return failure.New(failure.Usage, "pawl install service", "the service takes no flag but --dry-run")
	case c.Agent == serviceName:
		return a.installService(c.DryRun)
	case c.GuardBlocks && (c.OnlyCap || scope != install.Project && scope != install.Local):
		return failure.New(failure.Usage, "pawl install claude --scope local --guard-blocks",
			"--guard-blocks works at scope project or local only: elsewhere a missing hook would stop all your sessions")
	case c.OnlyCap:
		return c.liftCap(a)
	case c.Scope == pluginScope:
		return a.installPlugin(ctx, c.DryRun)
	}
	r, err := c.request(a)
	if err != nil {
		return err
	}
	command, args := a.hookCommand(r.Scope)
	r.Entries = install.ClaudeHooks(command, args)
	if c.GuardBlocks {
		r.Entries = r.Entries.WithBlockingGuard()
	}
	said, err := c.setCap(a, &r)
	if err != nil {
		return err
	}
	result, err := install.Install(r)
	if err != nil {
		return err
	}
	name := a.displayPath(r.Path)
	switch {
	case c.DryRun && c.Verbose:
		a.print(term.CleanText(result.Diff(name)))
	case !result.Changed():
		a.printf("%s already has Pawl's hooks\n", name)
	default:
		c.summarize(a, r.Entries.Events, name, strings.Join(append([]string{command}, args...), " "))
	}
	if said != "" {
		a.printAside(c.DryRun, "  %s\n", said)
	}
	switch closed := []byte(`"--closed"`); {
	case c.GuardBlocks:
		a.printAside(c.DryRun, "  sessions here run no tool if %s does not answer\n", command)
	case bytes.Contains(result.Before, closed) && !bytes.Contains(result.After, closed):
		a.printAside(c.DryRun, "  sessions here run tools even if %s does not answer: --guard-blocks was given before, but not now\n", command)
	}
	if r.Scope == install.Project {
		a.printAside(c.DryRun, "  everyone who works in this repository shares the file: each needs %s on the PATH\n", command)
	}
	a.warnUnread(result, name)
	a.warnHooksDisabled()
	return nil
}

// warnHooksDisabled warns of settings with which the client runs no hook.
func (a *app) warnHooksDisabled() {
	if statefile.HooksDisabled(a.root(), a.env.ClientConfig()) {
		term.Warnf(a.Err, "the client's settings turn all hooks off here (disableAllHooks), Pawl's too")
		term.Hintf(a.Err, "pawl doctor names the file to change")
	}
}

// summarize says what an installation changes, or would.
func (c *installCmd) summarize(a *app, events install.Events, name, command string) {
	if c.DryRun {
		a.printf("Pawl's hooks would be in %s, and nothing else there would change (--verbose shows each line)\n", name)
	} else {
		a.printf("Pawl's hooks are in %s\n", name)
	}
	a.printf("  they start %s at %s:\n", term.Clean(command), figure.Count(len(events), "event"))
	for line := range slices.Chunk(events.Names(), 5) {
		a.printf("    %s\n", strings.Join(line, ", "))
	}
}

// liftCap sets only the variable that lifts the client's limit on Stop hooks.
func (c *installCmd) liftCap(a *app) error {
	if scope := install.Scope(c.Scope); scope != install.Project && scope != install.Local {
		return failure.New(failure.Usage, install.LiftCapCommand, "--only-cap is for the scopes project and local, not %s", scope)
	}
	r, err := c.request(a)
	if err != nil {
		return err
	}
	name := a.displayPath(r.Path)
	value, set, err := install.Variable(r.Path, install.StopBlockCap)
	switch {
	case err != nil:
		return err
	case set && value != "0":
		return failure.New(failure.Usage, `set it to "0" there`, "%s sets %s to %s", name, install.StopBlockCap, term.Clean(value))
	case !set && !c.Yes && !c.DryRun && !isTerminal(a.In):
		return failure.New(failure.Usage, c.liftCapCommand()+" sets it", "no terminal to ask whether %s=0 may be set in %s", install.StopBlockCap, name)
	}
	said, err := c.setCap(a, &r)
	if err != nil {
		return err
	}
	result, err := install.Install(r)
	if err != nil {
		return err
	}
	switch {
	case c.DryRun:
		a.print(term.CleanText(result.Diff(name)))
	case result.Changed():
		a.printf("changed %s\n", name)
	default:
		a.printf("did not change %s\n", name)
	}
	a.printAside(c.DryRun, "  %s\n", said)
	a.warnUnread(result, name)
	return nil
}

// warnUnread warns of a settings file that the client does not read.
func (a *app) warnUnread(result install.Result, name string) {
	if why := result.UnreadReason(); why != "" {
		term.Warnf(a.Err, "Claude Code will not read %s: %s; it takes neither", name, why)
	}
}

// displayPath returns a path relative to the current folder, if it is below.
func (a *app) displayPath(path string) string {
	if rel, err := filepath.Rel(git.RealPath(a.dir), path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return term.Clean(path)
}

// printAside prints a remark. In a dry run it goes to standard error, because standard output is the diff.
func (a *app) printAside(dry bool, format string, args ...any) {
	out := a.Out
	if dry {
		out = a.Err
	}
	_, _ = fmt.Fprintf(out, format, args...)
}

// setCap adds the variable that lifts the client's limit, if the scope allows it and the user agrees. It
// returns the result in words.
func (c *installCmd) setCap(a *app, r *install.Request) (string, error) {
	const lifted = install.StopBlockCap + "=0"
	if r.Scope == install.User {
		return "the client still limits Stop hooks; " + install.LiftCapCommand + " removes the limit in a repository", nil
	}
	value, set, err := install.Variable(r.Path, install.StopBlockCap)
	if err != nil {
		return "", err
	}
	if set {
		return fmt.Sprintf("%s=%s is set", install.StopBlockCap, term.Clean(value)), nil
	}
	consent := c.Yes || c.OnlyCap && c.DryRun
	if !consent && !c.DryRun && isTerminal(a.In) {
		var err error
		consent, err = a.confirm(confirmation{
			text: "set " + lifted + " there, so that no turn ends after eight stops without a tool call?", enter: true, instead: c.liftCapCommand() + " sets it",
		})
		if err != nil {
			return "", err
		}
	}
	if !consent {
		return lifted + " is not set: a turn ends after eight stops without a tool call; " + c.liftCapCommand() + " sets it", nil
	}
	r.Entries.Env = []install.Var{{Name: install.StopBlockCap, Value: "0"}}
	return lifted + " lifts the client's cap: Pawl keeps to the loop's own limits", nil
}

// liftCapCommand returns the command that lifts the limit at this scope without a question.
func (c *installCmd) liftCapCommand() string {
	return strings.Replace(install.LiftCapCommand, string(install.Local), c.Scope, 1)
}

// hookCommand returns the command of the hook. A shared file gets the bare name pawl-hook. Otherwise
// it is pawl-hook beside this program or on the PATH, else this program.
func (a *app) hookCommand(scope install.Scope) (string, []string) {
	const lean = "pawl-hook"
	if scope == install.Project {
		return lean, []string{"claude"}
	}
	self := a.ownPath()
	beside := lean
	if runtime.GOOS == "windows" {
		beside += ".exe"
	}
	beside = filepath.Join(filepath.Dir(self), beside)
	if path, err := exec.LookPath(beside); err == nil {
		return path, []string{"claude"}
	}
	if path, err := exec.LookPath(lean); err == nil && filepath.IsAbs(path) {
		return path, []string{"claude"}
	}
	return self, []string{"hook", "claude"}
}

// ownPath returns the path of this program by the name that it was called by: a symlink stays valid if
// an upgrade moves its target.
func (a *app) ownPath() string {
	called, _ := exec.LookPath(os.Args[0])
	if called, err := filepath.Abs(called); err == nil && isSameFile(called, a.self) {
		return called
	}
	return a.self
}

// isSameFile reports whether two paths lead to one file.
func isSameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// serviceName is the operand of install and uninstall for the service that resumes background loops.
const serviceName = "service"

// installService lets the system run `pawl resume --after-restart` when the user logs in.
func (a *app) installService(dryRun bool) error {
	s, err := a.service()
	if err != nil {
		return err
	}
	if dryRun {
		a.print(s.Text)
		a.printAside(true, "this would be %s\n", a.displayPath(s.Path))
		return nil
	}
	result, err := s.Install()
	if err != nil {
		return err
	}
	name := a.displayPath(s.Path)
	if result == autostart.Already {
		a.printf("%s already exists\n", name)
		return nil
	}
	a.printf("background loops are resumed when you log in after a restart\n  %s runs pawl resume --after-restart, with the PATH of now\n", name)
	if s.Link != "" {
		a.printf("  loginctl enable-linger runs it at boot, before you log in\n")
	}
	return nil
}

// uninstallService removes that service.
func (a *app) uninstallService(dryRun bool) error {
	s, err := a.service()
	if err != nil {
		return err
	}
	name := a.displayPath(s.Path)
	if dryRun {
		a.printf("%s would be removed\n", name)
		return nil
	}
	result, err := s.Uninstall()
	switch {
	case err != nil:
		return err
	case result == autostart.Already:
		a.printf("there is no %s\n", name)
	default:
		a.printf("%s is removed: after a restart, background loops wait for pawl resume\n", name)
	}
	return nil
}

func (a *app) service() (autostart.Service, error) {
	if a.env.Home == "" {
		return autostart.Service{}, failure.New(failure.Usage, "set HOME", "there is no home folder for a service")
	}
	return autostart.New(runtime.GOOS, autostart.Command{
		Program: a.ownPath(), Home: a.env.Home, ConfigHome: a.env.ConfigHome, Path: a.env.Variable("PATH"), PawlHome: a.env.PawlHome,
	})
}
