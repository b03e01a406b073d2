package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
)

// agentPolicy returns the policy of the coding agent.
func (o Options) agentPolicy(p Policy) Policy {
	p.Write, p.Read, p.Hide = slices.Clone(p.Write), slices.Clone(p.Read), slices.Clone(p.Hide)
	p.Keep = o.Keep
	if !o.Client {
		return p
	}
	p.Keep = append(slices.Clip(p.Keep), "ANTHROPIC_*", "CLAUDE_CODE_OAUTH_TOKEN")
	dir := o.clientHome()
	for _, d := range joinEach(dir, "projects "+clientScratch) {
		_ = makeDir(d) // if it fails, the client works without it
	}
	p.Write = append(p.Write, resolve(joinEach(dir, clientWritable))...)
	if p.Mechanism == Landlock {
		p.Write = append(p.Write, resolve(joinEach(dir, clientScratch))...)
	} else {
		p.Scratch = resolve(joinEach(dir, clientScratch))
	}
	// The client renews its login in this file; the new login must not be lost.
	p.Write = append(p.Write, resolve([]string{filepath.Join(dir, ".credentials.json")})...)
	p.Read = append(p.Read, resolve([]string{dir})...)
	return p
}

// gatePolicy returns the policy of gates, and of the setup of their worktrees.
func (o Options) gatePolicy(p Policy) Policy {
	p.Write, p.Read, p.Hide = slices.Clone(p.Write), slices.Clone(p.Read), slices.Clone(p.Hide)
	p.Write = append(p.Write, resolve([]string{o.Elsewhere})...)
	if o.Level == Strict {
		p.Hide = append(p.Hide, resolve(joinEach(o.clientHome(), clientCredentials))...)
		p.Hide = append(p.Hide, resolve(joinEach(o.Home, ".claude.json"))...)
	}
	return p
}

// hookPolicy returns the policy of the user's git hooks. They may read and change the index that
// is about to be committed.
func (o Options) hookPolicy(p Policy) Policy {
	p = o.gatePolicy(p)
	p.Read = slices.DeleteFunc(p.Read, func(path string) bool { return path == o.Index })
	return p
}

// clientHome returns the configuration folder of Claude Code.
func (o Options) clientHome() string {
	if dir := environment.Variable(o.Vars, "CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	if o.Home == "" {
		return ""
	}
	return filepath.Join(o.Home, ".claude")
}

// protect makes paths in the work tree and the repository read-only if they could make git or the
// client run a program later, outside the sandbox.
func (o Options) protect(p *Policy) error {
	hooks := filepath.Join(o.Root, ".claude")
	made := []string{hooks}
	protected := []string{filepath.Join(o.Root, ".mcp.json"), hooks}
	if common := o.CommonDir; common != "" {
		if o.Index != "" {
			made, protected = append(made, o.Index), append(protected, o.Index)
		}
		made = append(made, filepath.Join(common, "hooks"), filepath.Join(common, "info"), filepath.Join(common, "refs", "pawl"))
		protected = append(protected, joinEach(common, "config config.worktree hooks info commondir worktrees refs/pawl modules")...)
		if o.GitDir != common {
			protected = append(protected, filepath.Join(o.Root, ".git"))
			protected = append(protected, joinEach(o.GitDir, "commondir gitdir config.worktree")...)
		}
	}
	if p.Mechanism != Bubblewrap {
		return nil // see System.Lacks
	}
	for _, dir := range made {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make %s, to protect it: %w", dir, err)
		}
	}
	for _, path := range protected {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return failure.New(failure.Usage, "replace it with the folder or file itself",
				"%s is a symbolic link and could be replaced, so it cannot be protected", path)
		}
	}
	p.Read = append(p.Read, resolve(protected)...)
	return nil
}

// Endpoint returns the hosts that the agent may reach with Strict, besides those that gates may
// reach too. They are known for Claude Code only.
func (o Options) Endpoint() []string {
	if !o.Client {
		return nil
	}
	if base := environment.Variable(o.Vars, "ANTHROPIC_BASE_URL"); base != "" {
		return []string{endpoint(base)}
	}
	return []string{"api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"}
}

// endpoint returns HOST or HOST:PORT of a URL.
func endpoint(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		rest = url
	}
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if !strings.Contains(host, ":") && strings.HasPrefix(url, "http:") {
		host += ":80"
	}
	return host
}
