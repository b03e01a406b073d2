package shell

import (
	"strings"
)

// runGit runs the commands of git aliases, and those that some subcommands run.
func (r *reader) runGit(c *Command) {
	args := c.Args[1:]
	r.runGitPrograms(c)
	for _, w := range c.Env {
		if n, key, ok := splitIndexed(w.Text, "GIT_CONFIG_KEY_"); ok {
			for _, w := range c.Env {
				if m, text, ok := splitIndexed(w.Text, "GIT_CONFIG_VALUE_"); ok && m == n {
					r.runGitSetting(c, key, Word{Text: text, Source: w.Source, Static: w.Static})
				}
			}
		}
	}
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		eat := 1
		switch args[0].Text {
		case "-c", "--config-env":
			if len(args) > 1 {
				key, text, _ := strings.Cut(args[1].Text, "=")
				r.runGitSetting(c, key, args[1].Part(text))
			}
			eat = 2
		case "-C", "--git-dir", "--work-tree", "--namespace":
			eat = 2
		}
		args = args[min(eat, len(args)):]
	}
	if len(args) < 2 {
		return
	}
	rest := args[1:]
	switch args[0].Text {
	case "config":
		ops := Operands(rest)
		if len(ops) > 0 && ops[0].Text == "set" {
			ops = ops[1:]
		}
		if len(ops) > 1 {
			r.runGitSetting(c, ops[0].Text, ops[1])
		}
	case "submodule":
		if rest[0].Text == "foreach" {
			r.runChildScript(c, Join(Operands(rest[1:])), c.In)
		}
	case "bisect":
		if rest[0].Text == "run" {
			r.runInner(c, rest[1:])
		}
	case "rebase":
		for i, a := range rest {
			if (a.Text == "-x" || a.Text == "--exec") && i+1 < len(rest) {
				r.runChildScript(c, rest[i+1], c.In)
			}
		}
	}
}

// runGitPrograms runs the commands in variables that git runs.
func (r *reader) runGitPrograms(c *Command) {
	for _, name := range []string{
		"GIT_PAGER", "PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL", "EDITOR", "GIT_SSH_COMMAND", "GIT_SSH",
		"GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_PROXY_COMMAND",
	} {
		v, ok := r.vars[name]
		if !ok {
			continue
		}
		sub := r.copy()
		delete(sub.vars, name) // a git command in it would run it again
		for _, v := range append([]value{v}, v.alternatives...) {
			sub.runScript(c, v.firstWord(), Word{Static: true})
		}
	}
}

// splitIndexed splits NAME_n=value into n and value.
func splitIndexed(assign, name string) (n, text string, ok bool) {
	rest, ok := strings.CutPrefix(assign, name)
	n, text, _ = strings.Cut(rest, "=")
	return n, text, ok
}

// runGitSetting runs the command in a setting that git runs.
func (r *reader) runGitSetting(c *Command, key string, w Word) {
	key = strings.ToLower(strings.Trim(key, `"'`))
	switch {
	case strings.HasPrefix(key, "alias.") && strings.HasPrefix(w.Text, "!"):
		w.Text = w.Text[1:]
		r.runChildScript(c, w, c.In)
	case strings.HasPrefix(key, "alias."):
		w.Text = "git " + w.Text
		r.runChildScript(c, w, c.In)
	case InList("core.pager core.editor core.sshcommand core.fsmonitor core.askpass core.gitproxy sequence.editor diff.external", key),
		strings.HasPrefix(key, "pager."), strings.HasSuffix(key, ".textconv"):
		r.runChildScript(c, w, c.In)
	}
}
