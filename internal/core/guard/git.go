package guard

import (
	"path"
	"strings"
)

// git judges one git command; args begin behind the word git.
func (j *judge) git(args []word) {
	cwd := j.cwd
	defer func() { j.cwd = cwd }()
	args = j.gitOptions(args)
	if len(args) == 0 {
		return
	}
	if !args[0].static {
		if carriesVerb(join(args).text) {
			j.ask("a git command that is put together at run time")
		}
		return
	}
	sub, rest := args[0].text, args[1:]
	if has(rest, "--help", "") {
		return
	}
	switch sub { // these run commands themselves
	case "config":
		j.config(rest)
	case "submodule":
		if len(rest) > 1 && rest[0].text == "foreach" {
			j.embedded(join(operands(rest[1:])))
		}
	case "bisect":
		if len(rest) > 1 && rest[0].text == "run" {
			j.command(rest[1:])
		}
	}
	if judge, ok := gitRules[sub]; ok {
		judge(j, rest)
	}
}

// gitOptions takes off what stands before the subcommand.
func (j *judge) gitOptions(args []word) []word {
	for len(args) > 0 && args[0].static && strings.HasPrefix(args[0].text, "-") {
		t := args[0].text
		valued := t == "-C" || t == "-c" || t == "--git-dir" || t == "--work-tree" || t == "--namespace" || t == "--config-env"
		if valued && len(args) > 1 {
			value := args[1]
			switch {
			case t == "-C" && value.static:
				j.cwd = j.resolve(value.text)
			case t == "-C":
				j.cwd = ""
			case t == "-c" && strings.HasPrefix(strings.TrimLeft(value.text, `"'`), "alias."):
				j.gitAlias(value)
			}
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

// gitAlias judges what a new name for a command would run.
func (j *judge) gitAlias(w word) {
	_, value, ok := strings.Cut(w.text, "=")
	if !ok {
		value = w.text
	}
	if script, ok := strings.CutPrefix(value, "!"); ok {
		j.embedded(word{text: script, static: w.static})
		return
	}
	j.embedded(word{text: "git " + value, static: w.static})
}

type gitRule func(j *judge, args []word)

// always makes a rule for a subcommand that is never allowed.
func always(id, what string) gitRule {
	return func(j *judge, _ []word) { j.deny(id, what) }
}

// when makes a rule for a subcommand that is not allowed with some options.
func when(id, what, long, short string) gitRule {
	return func(j *judge, args []word) {
		if has(args, long, short) {
			j.deny(id, what)
		}
	}
}

// verb makes a rule for a subcommand's own subcommands.
func verb(id, what string, names ...string) gitRule {
	return func(j *judge, args []word) {
		ops := operands(args)
		for _, name := range names {
			if len(ops) > 0 && ops[0].text == name {
				j.deny(id, what+" "+name)
			}
		}
	}
}

func all(rules ...gitRule) gitRule {
	return func(j *judge, args []word) {
		for _, r := range rules {
			r(j, args)
		}
	}
}

// gitRules is the table of subcommands that have a rule; others are allowed.
var gitRules = map[string]gitRule{
	"push":      always(RulePush, "git push"),
	"send-pack": always(RulePush, "git send-pack"),
	"subtree":   verb(RulePush, "git subtree", "push"),
	"lfs":       verb(RulePush, "git lfs", "push"),
	"svn":       verb(RulePush, "git svn", "dcommit"),

	"merge": func(j *judge, args []word) {
		if !has(args, "--abort", "") && j.isProtected(j.branch) {
			j.deny(RuleMerge, "git merge into "+clip(j.branch))
		}
	},
	"fetch": (*judge).fetch,
	"pull": all(
		when(RuleHistory, "git pull --rebase", "--rebase", "r"),
		(*judge).fetch,
	),

	"rebase": func(j *judge, args []word) {
		if !has(args, "--abort", "") && !has(args, "--show-current-patch", "") {
			j.deny(RuleHistory, "git rebase")
		}
	},
	"commit":        when(RuleHistory, "git commit --amend", "--amend", ""),
	"filter-branch": always(RuleHistory, "git filter-branch"),
	"filter-repo":   always(RuleHistory, "git filter-repo"),
	"replace":       always(RuleHistory, "git replace"),
	"update-ref":    always(RuleHistory, "git update-ref"),
	"reflog":        verb(RuleHistory, "git reflog", "expire", "delete", "drop"),
	"prune":         always(RuleHistory, "git prune"),
	"gc":            when(RuleHistory, "git gc --prune", "--prune", ""),
	"branch":        when(RuleHistory, "git branch with force", "--force", "DMCf"),
	"tag":           when(RuleHistory, "git tag with delete or force", "--delete", "df"),
	"symbolic-ref": func(j *judge, args []word) {
		if len(operands(args)) > 1 {
			j.deny(RuleHistory, "git symbolic-ref")
		}
	},
	"reset": (*judge).reset,

	"clean": func(j *judge, args []word) {
		if !has(args, "--dry-run", "n") {
			j.deny(RuleDestructive, "git clean")
		}
	},
	"stash":          verb(RuleDestructive, "git stash", "drop", "clear"),
	"checkout":       (*judge).checkout,
	"switch":         (*judge).checkout,
	"restore":        (*judge).restore,
	"checkout-index": when(RuleDestructive, "git checkout-index --force", "--force", "f"),
	"read-tree":      when(RuleDestructive, "git read-tree --reset", "--reset", "u"),
	"worktree":       (*judge).worktree,
	"clone": func(j *judge, args []word) {
		if ops := operands(args); len(ops) > 1 && ops[len(ops)-1].static {
			j.write(ops[len(ops)-1].text)
		}
	},
}

func (j *judge) isProtected(branch string) bool {
	for _, glob := range j.rules.ProtectedBranches {
		if ok, err := path.Match(glob, branch); branch != "" && ok && err == nil {
			return true
		}
	}
	return false
}

// fetch may write local branches by a refspec: `git fetch . topic:main`.
func (j *judge) fetch(args []word) {
	for _, w := range operands(args) {
		_, to, ok := strings.Cut(w.text, ":")
		if ok && j.isProtected(strings.TrimPrefix(to, "refs/heads/")) {
			j.deny(RuleMerge, "fetching into "+clip(to))
		}
	}
}

// reset of files in the index is harmless; of the work tree it is not, and
// moving the branch back is a rewrite.
func (j *judge) reset(args []word) {
	for _, mode := range []string{"--hard", "--merge", "--keep"} {
		if has(args, mode, "") {
			j.deny(RuleDestructive, "git reset "+mode)
			return
		}
	}
	ops := operands(args)
	if len(ops) > 0 && ops[0].static && ops[0].text != "HEAD" && ops[0].text != "@" && revision(ops[0].text) {
		j.deny(RuleHistory, "git reset to "+clip(ops[0].text))
	}
}

// revision tells what looks like a commit and not like a file.
func revision(s string) bool {
	if strings.ContainsAny(s, "~^@") || strings.HasSuffix(s, "_HEAD") || strings.HasPrefix(s, "origin/") {
		return true
	}
	return len(s) >= 7 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// checkout follows the branch and denies what throws the whole tree's changes
// away; a single file may go back.
func (j *judge) checkout(args []word) {
	ops := operands(args)
	switch {
	case has(args, "--force", "f") || has(args, "--discard-changes", ""):
		j.deny(RuleDestructive, "a forced checkout")
	case wholeTree(ops):
		j.deny(RuleDestructive, "git checkout of everything")
	case has(args, "--force-create", "BC"):
		j.deny(RuleHistory, "resetting a branch")
	case len(ops) > 0 && !hasDashes(args):
		j.branch = ""
		if ops[0].static {
			j.branch = ops[0].text
		}
	}
}

func (j *judge) restore(args []word) {
	staged := has(args, "--staged", "S") && !has(args, "--worktree", "W")
	if !staged && wholeTree(operands(args)) {
		j.deny(RuleDestructive, "git restore of everything")
	}
}

func hasDashes(args []word) bool {
	for _, w := range args {
		if w.text == "--" {
			return true
		}
	}
	return false
}

func wholeTree(ops []word) bool {
	for _, w := range ops {
		switch w.text {
		case ".", "./", "*", ":/", ":", "/":
			return true
		}
	}
	return false
}

func (j *judge) worktree(args []word) {
	ops := operands(args)
	switch {
	case len(ops) > 1 && ops[0].text == "add" && ops[1].static:
		j.write(ops[1].text)
	case len(ops) > 0 && ops[0].text == "remove" && has(args, "--force", "f"):
		j.deny(RuleDestructive, "git worktree remove --force")
	}
}

// config may define an alias, or take the person's commit hooks away.
func (j *judge) config(args []word) {
	ops := operands(args)
	if len(ops) > 0 && ops[0].text == "set" {
		ops = ops[1:]
	}
	if len(ops) < 2 {
		return
	}
	key := strings.ToLower(ops[0].text)
	switch {
	case key == "core.hookspath":
		j.deny(RuleGitDir, "changing core.hooksPath")
	case strings.HasPrefix(key, "alias."):
		j.gitAlias(word{text: ops[1].text, static: ops[1].static})
	}
}
