package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/install"
)

// prober examines the programs of hooks. It caches results, because many hooks share one
// program.
type prober struct {
	Facts
	runOthers     bool // run hooks of other tools too
	versions      map[string]string
	onDefaultPath map[string]bool
}

// probe finds a hook's program and runs the hook. It runs hooks of other tools only on request,
// because their effects are unknown.
func (p prober) probe(ctx context.Context, h *hook) {
	if h.kind != "command" || len(h.argv) == 0 && !p.runOthers {
		return
	}
	own := h.isOwn()
	if !own && h.event != "Stop" {
		return
	}
	if len(h.argv) > 0 {
		p.locate(ctx, h)
	}
	switch {
	case h.problem != "":
	case own:
		h.version = p.version(ctx, h.found)
		p.runOwn(ctx, h)
	case p.runOthers:
		limit := 2 * probeTimeout
		if h.timeout > 0 {
			limit = min(limit, h.timeout)
		}
		h.answers = []answer{p.run(ctx, *h, p.hookDir(*h), limit)}
	}
}

// locate finds the program of a hook, and the script if the program is an interpreter.
func (p prober) locate(ctx context.Context, h *hook) {
	path, _, _ := p.variable("PATH")
	program := h.argv[0]
	h.found = lookPath(path, p.absolute(program))
	if h.found == "" && h.args == nil && p.system == "windows" && filepath.IsAbs(p.absolute(program)) {
		if _, err := os.Stat(p.absolute(program)); err == nil {
			h.found = program // the shell on Windows runs scripts that the system cannot start
		}
	}
	if h.found == "" {
		h.problem, h.fix = p.explainMissing(program)
		return
	}
	if at := scriptOf(h.argv); at != "" {
		full := at
		if !filepath.IsAbs(at) {
			full = filepath.Join(p.root, at)
		}
		if _, err := os.Stat(full); err != nil {
			h.problem, h.fix = at+" does not exist", "put it there, or remove the hook from the "+h.location()
		}
	}
	h.shellOnly = !strings.ContainsAny(program, `/\`) && !p.isOnDefaultPath(ctx, program)
}

// explainMissing returns the reason why a program cannot be started, and a fix.
func (f Facts) explainMissing(program string) (problem, fix string) {
	path := f.absolute(program)
	switch _, err := os.Stat(path); {
	case !strings.ContainsAny(program, `/\`):
		return program + " is not on the PATH", "install it, or write its full path"
	case err != nil:
		return program + " does not exist", "put it there, or remove the hook"
	}
	return program + " is not executable", "chmod +x " + path
}

// absolute resolves a path relative to the project's root, where hooks run. It returns a bare
// name unchanged.
func (f Facts) absolute(program string) string {
	if filepath.IsAbs(program) || !strings.ContainsAny(program, `/\`) {
		return program
	}
	return filepath.Join(f.root, program)
}

// isOnDefaultPath reports whether a program is on the shell's default PATH. Programs that no
// login shell started have only this PATH.
func (p prober) isOnDefaultPath(ctx context.Context, name string) bool {
	if p.system == "windows" {
		return true // Windows has one PATH for all programs
	}
	found, asked := p.onDefaultPath[name]
	if !asked {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		c := exec.CommandContext(ctx, "/bin/sh", "-c", `command -v -- "$1"`, "sh", name)
		c.Env = []string{}
		found = c.Run() == nil
		p.onDefaultPath[name] = found
	}
	return found
}

// lookPath returns the path of a program on the given PATH, "" if it is not there.
func lookPath(path, program string) string {
	if strings.ContainsAny(program, `/\`) {
		found, err := exec.LookPath(program)
		if err != nil {
			return ""
		}
		return found
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return found
		}
	}
	return ""
}

// version returns the version of one of Pawl's programs, as the program prints it. It returns ""
// if the program is not Pawl's.
func (p prober) version(ctx context.Context, program string) string {
	version, asked := p.versions[program]
	if !asked {
		flag := "--version"
		if install.ProgramName(program) == "pawl" {
			flag = "version"
		}
		said, _ := versionOf(ctx, program, flag)
		who, of, _ := strings.Cut(said, " ")
		if who == "pawl" || who == "pawl-hook" {
			version = of
		}
		p.versions[program] = version
	}
	return version
}
