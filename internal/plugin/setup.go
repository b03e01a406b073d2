package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
)

// clientTimeout limits each command of the client. On an idle machine they take about half a second.
const clientTimeout = 2 * time.Minute

// maxOutputBytes limits the output of the client that is kept.
const maxOutputBytes = 1 << 20

// Setup installs the plugin into Claude Code for all sessions of the user, and uninstalls it. It uses
// the client's commands, because the client keeps its own records of plugins. It skips steps that are
// already done.
type Setup struct {
	Plugin Plugin
	Dir    string   // folder for the exported marketplace, absolute; the client reads it in place
	Client string   // the client's program; "" = claude on the PATH
	Env    []string // the client's environment, NAME=value; nil = the caller's
	DryRun bool     // only return what Install would do
}

// Install exports the plugin and installs it. It returns what it did, a line for each step, also if a
// later step failed. Open sessions load the plugin with /reload-plugins.
func (s Setup) Install(ctx context.Context) (did []string, err error) {
	export := fmt.Sprintf("write the plugin %s to %s", s.Plugin.Version, s.Dir)
	if s.DryRun {
		return append([]string{export}, s.Commands()...), nil
	}
	known, err := s.findMarketplace(ctx)
	if err != nil {
		return nil, err
	}
	if known != nil && !isSameFolder(known.Path, s.Dir) {
		return nil, failure.New(failure.Usage, s.commandLine(s.removeMarketplaceArgs())+" removes that one, with its plugin",
			"the client has a marketplace %q from elsewhere (%s)", marketplace, known.origin())
	}
	changed, err := Export(s.Dir, s.Plugin)
	if err != nil {
		return nil, err
	}
	if changed {
		did = append(did, export)
	}
	if known == nil {
		if _, err := s.run(ctx, s.addMarketplaceArgs()); err != nil {
			return did, err
		}
		did = append(did, s.commandLine(s.addMarketplaceArgs()))
	}
	have, err := s.findPlugin(ctx)
	var step []string
	switch {
	case err != nil:
		return did, err
	case have == nil:
		step = s.installArgs()
	case have.Version != s.Plugin.Version:
		step = []string{"plugin", "update", ID, "--scope", "user"}
	default:
		return did, nil
	}
	if _, err := s.run(ctx, step); err != nil {
		return did, err
	}
	return append(did, s.commandLine(step)), nil
}

// Uninstall is the inverse of Install. It leaves a marketplace of the same name in another place
// alone.
func (s Setup) Uninstall(ctx context.Context) (did []string, err error) {
	remove := "remove " + s.Dir
	if s.DryRun {
		return []string{s.commandLine(s.uninstallArgs()), s.commandLine(s.removeMarketplaceArgs()), remove}, nil
	}
	known, err := s.findMarketplace(ctx)
	if err != nil {
		return nil, err
	}
	if known != nil && isSameFolder(known.Path, s.Dir) {
		have, err := s.findPlugin(ctx)
		if err != nil {
			return nil, err
		}
		steps := [][]string{s.removeMarketplaceArgs()}
		if have != nil {
			steps = [][]string{s.uninstallArgs(), s.removeMarketplaceArgs()}
		}
		for _, step := range steps {
			if _, err := s.run(ctx, step); err != nil {
				return did, err
			}
			did = append(did, s.commandLine(step))
		}
	}
	if earlier, err := readChecksums(s.Dir); err != nil || earlier == nil {
		return did, err
	}
	left, err := Remove(s.Dir)
	if len(left) > 0 {
		remove += ", except the files changed there: " + strings.Join(left, ", ")
	}
	return append(did, remove), err
}

// Commands returns the commands with which a user could install the export.
func (s Setup) Commands() []string {
	return []string{s.commandLine(s.addMarketplaceArgs()), s.commandLine(s.installArgs())}
}

func (s Setup) addMarketplaceArgs() []string { return []string{"plugin", "marketplace", "add", s.Dir} }

func (s Setup) removeMarketplaceArgs() []string {
	return []string{"plugin", "marketplace", "remove", marketplace}
}

func (s Setup) installArgs() []string { return []string{"plugin", "install", ID, "--scope", "user"} }

func (s Setup) uninstallArgs() []string {
	return []string{"plugin", "uninstall", ID, "--scope", "user"}
}

// commandLine returns a command of the client as a user would type it.
func (s Setup) commandLine(args []string) string {
	shown := []string{"claude"}
	for _, arg := range args {
		if strings.ContainsAny(arg, " \t\"'`$&|;<>()*?[]{}~#\\") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		shown = append(shown, arg)
	}
	return strings.Join(shown, " ")
}

// listedMarketplace is a marketplace as the client lists it. One that is not a local folder has a
// URL or a repository as its path.
type listedMarketplace struct {
	Name, Source, Path, URL, Repo string
}

func (m listedMarketplace) origin() string {
	return strings.Join(slices.DeleteFunc([]string{m.Source, m.Path, m.URL, m.Repo}, func(s string) bool { return s == "" }), " ")
}

// findMarketplace returns the marketplace of our name, nil if the client has none.
func (s Setup) findMarketplace(ctx context.Context) (*listedMarketplace, error) {
	var all []listedMarketplace
	if err := s.list(ctx, []string{"plugin", "marketplace", "list", "--json"}, &all); err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Name == marketplace {
			return &m, nil
		}
	}
	return nil, nil
}

// listedPlugin is a plugin as the client lists it.
type listedPlugin struct{ ID, Version, Scope string }

// findPlugin returns our plugin in the user's settings, nil if it is not installed.
func (s Setup) findPlugin(ctx context.Context) (*listedPlugin, error) {
	var all []listedPlugin
	if err := s.list(ctx, []string{"plugin", "list", "--json"}, &all); err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.ID == ID && p.Scope == "user" {
			return &p, nil
		}
	}
	return nil, nil
}

func (s Setup) list(ctx context.Context, args []string, into any) error {
	out, err := s.run(ctx, args)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return failure.New(failure.Error, "update the client, or export the plugin (pawl plugin export DIR) and add it there with /plugin",
			"read what %s printed: %w", s.commandLine(args), err)
	}
	return nil
}

// run runs a command of the client and returns its output.
func (s Setup) run(ctx context.Context, args []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	program := s.Client
	if program == "" {
		program = "claude"
	}
	out, errs := &proc.Head{MaxBytes: maxOutputBytes}, &proc.Head{MaxBytes: maxOutputBytes}
	exit := proc.Run(ctx, proc.Spec{
		Argv: append([]string{program}, args...), Env: s.Env, Stdout: out, Stderr: errs,
		KeepBackground: true, // what the client keeps running beside itself is the user's
	})
	switch {
	case errors.Is(exit.Err, exec.ErrNotFound) || errors.Is(exit.Err, fs.ErrNotExist):
		return nil, failure.New(failure.Usage, "put claude on the PATH; pawl plugin export DIR writes the plugin without it",
			"there is no client to install the plugin into: %w", exit.Err)
	case exit.Err != nil:
		return nil, fmt.Errorf("run %s: %w", s.commandLine(args), exit.Err)
	case exit.Cancelled:
		return nil, fmt.Errorf("run %s: %w", s.commandLine(args), context.Cause(ctx))
	case !exit.OK():
		said := bytes.TrimSpace(append(errs.Bytes(), out.Bytes()...))
		return nil, failure.New(failure.Error, "run it yourself for details", "%s failed (exit code %d): %s", s.commandLine(args), exit.Code, said)
	}
	return out.Bytes(), nil
}

// isSameFolder reports whether two paths lead to one folder.
func isSameFolder(a, b string) bool {
	ia, err := os.Stat(a)
	if err == nil {
		if ib, err := os.Stat(b); err == nil {
			return os.SameFile(ia, ib)
		}
	}
	return filepath.Clean(a) == filepath.Clean(b)
}
