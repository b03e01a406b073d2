package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// prober finds out what hooks start. It remembers: one program serves many
// events.
type prober struct {
	Facts
	runOthers  bool // other people's hooks too
	versions   map[string]string
	everywhere map[string]bool
}

// probe finds out what there is to know of a hook: whether its program is there,
// and what it says. Other people's hooks are run only on request: what they do,
// nobody knows.
func (p prober) probe(ctx context.Context, h *hook) {
	if h.kind != "command" || len(h.argv) == 0 && !p.runOthers {
		return
	}
	own := h.own()
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
		p.askOwn(ctx, h)
	case p.runOthers:
		limit := 2 * probeTimeout
		if h.timeout > 0 {
			limit = min(limit, h.timeout)
		}
		h.answers = []answer{p.run(ctx, *h, p.dirFor(*h), limit)}
	}
}

// locate looks for the program, and for the script that an interpreter is given.
func (p prober) locate(ctx context.Context, h *hook) {
	path, _, _ := p.variable("PATH")
	program := h.argv[0]
	h.found = find(path, p.absolute(program))
	if h.found == "" && h.args == nil && p.system == "windows" && filepath.IsAbs(p.absolute(program)) {
		if _, err := os.Stat(p.absolute(program)); err == nil {
			h.found = program // the shell there runs scripts that the system does not
		}
	}
	if h.found == "" {
		h.problem, h.fix = p.why(program)
		return
	}
	if at := script(h.argv); at != "" {
		full := at
		if !filepath.IsAbs(at) {
			full = filepath.Join(p.root, at)
		}
		if _, err := os.Stat(full); err != nil {
			h.problem, h.fix = at+" is not there", "put it there, or take the hook out of the "+h.where()
		}
	}
	h.shellOnly = !strings.ContainsAny(program, `/\`) && !p.anywhere(ctx, program)
}

// why says why a program cannot be started.
func (f Facts) why(program string) (problem, fix string) {
	path := f.absolute(program)
	switch _, err := os.Stat(path); {
	case !strings.ContainsAny(program, `/\`):
		return program + " is not on the PATH", "install it, or write its path in full"
	case err != nil:
		return program + " is not there", "put it there, or take the hook out"
	}
	return program + " is not executable", "chmod +x " + path
}

// absolute is a path as hooks see it, which run in the project's folder; a bare
// name stays one.
func (f Facts) absolute(program string) string {
	if filepath.IsAbs(program) || !strings.ContainsAny(program, `/\`) {
		return program
	}
	return filepath.Join(f.root, program)
}

// anywhere reports whether a name is found with the PATH that a shell has of its
// own: that of programs which no login shell started.
func (p prober) anywhere(ctx context.Context, name string) bool {
	if p.system == "windows" {
		return true // one PATH for all
	}
	found, asked := p.everywhere[name]
	if !asked {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		c := exec.CommandContext(ctx, "/bin/sh", "-c", `command -v -- "$1"`, "sh", name)
		c.Env = []string{}
		found = c.Run() == nil
		p.everywhere[name] = found
	}
	return found
}

// find looks a program up in a PATH, as for a process with that PATH.
func find(path, program string) string {
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

// version is that of a program of Pawl's, as pawl says its own; "" if it does not
// say that it is one.
func (p prober) version(ctx context.Context, program string) string {
	version, asked := p.versions[program]
	if !asked {
		flag := "--version"
		if name(program) == "pawl" {
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
