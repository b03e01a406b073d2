package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// git judges one git command; args begin behind the word git. What its aliases
// and hooks of other kinds run is told by the shell.
func (j *check) git(c *shell.Command, args []word) {
	dir, scratch := j.dir, j.scratch
	defer func() { j.dir, j.scratch = dir, scratch }()
	args = j.gitPlaces(c, args)
	if len(args) == 0 {
		return
	}
	sub, rest := args[0], args[1:]
	switch {
	case !sub.Static && carriesVerb(shell.Join(args)):
		j.ask("a git command that is put together at run time, " + clip(shell.Join(args).Source))
	case !sub.Static:
		j.unknown("git " + shell.Join(args).Source)
	case sub.Glob:
		j.ask("a git command that is a pattern, " + clip(sub.Text))
	case has(rest, "--help", ""):
	default:
		if p := j.followed(j.dir); j.dir != "" && listed(changing, sub.Text) && !within(p, slashed(j.rules.Root)) && !j.writable(p) {
			j.deny(RuleOutside, "git "+sub.Text+" in "+clip(p))
		}
		j.gitShows(sub.Text, rest)
		if judge, ok := gitRules[sub.Text]; ok {
			judge(j, rest)
		}
		switch sub.Text {
		case "apply", "am":
			j.applied(c, rest)
		case "commit", "merge":
			j.hooked(c)
		}
	}
}

// changing are the commands that change the work tree or repository in which they
// run.
const changing = "add am apply checkout cherry-pick clean commit init merge mv pull reset restore revert rm stash switch"

// hooked judges the variables that tell hook runners to do nothing.
func (j *check) hooked(c *shell.Command) {
	for _, w := range c.Env {
		name, value, _ := strings.Cut(w.Text, "=")
		switch {
		case (name == "HUSKY" || name == "LEFTHOOK") && (value == "0" || value == "false"),
			(name == "SKIP" || name == "LEFTHOOK_EXCLUDE" || name == "HUSKY_SKIP_HOOKS") && value != "":
			j.deny(RuleHooks, name+"="+clip(value))
		case strings.HasPrefix(name, "GIT_CONFIG_") && strings.EqualFold(value, "core.hooksPath"):
			j.deny(RuleHooks, "core.hooksPath in the environment")
		}
	}
}

// applied judges what a patch changes, if it stands in the script.
func (j *check) applied(c *shell.Command, args []word) {
	for _, o := range []string{"--check", "--stat", "--numstat", "--summary", "--abort", "--cached"} {
		if has(args, o, "") {
			return
		}
	}
	j.patched(c.In.Text)
	if ops := operands(args); len(ops) > 0 && ops[0].Text != "-" {
		j.unknown("the patch " + ops[0].Source)
	}
}

type gitRule func(j *check, args []word)

// always makes a rule for a subcommand that is never allowed.
func always(id, what string) gitRule {
	return func(j *check, _ []word) { j.deny(id, what) }
}

// when makes a rule for a subcommand that is not allowed with some options.
// Other short options that take values stand behind a colon.
func when(id, what, long, short string) gitRule {
	short, valued, _ := strings.Cut(short, ":")
	return func(j *check, args []word) {
		if flag(args, long, short, valued) {
			j.deny(id, what)
		}
	}
}

// verb makes a rule for a subcommand's own subcommands.
func verb(id, what string, names ...string) gitRule {
	return func(j *check, args []word) {
		ops := operands(args)
		for _, name := range names {
			if len(ops) > 0 && ops[0].Text == name {
				j.deny(id, what+" "+name)
			}
		}
	}
}

func all(rules ...gitRule) gitRule {
	return func(j *check, args []word) {
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

	"merge": all(
		when(RuleHooks, "git merge --no-verify", "--no-verify", ""),
		func(j *check, args []word) {
			if at := j.head(); !has(args, "--abort", "") && j.isProtected(at) {
				j.deny(RuleMerge, "git merge into "+clip(at))
			}
		},
	),
	"fetch": (*check).fetch,
	"pull": all(
		func(j *check, args []word) {
			if !has(args, "--rebase", "r") || contains(args, "--rebase=false") {
				return
			}
			j.deny(RuleHistory, "git pull --rebase")
		},
		(*check).fetch,
	),

	"rebase": func(j *check, args []word) {
		if !has(args, "--abort", "") && !has(args, "--show-current-patch", "") {
			j.deny(RuleHistory, "git rebase")
		}
	},
	"commit": all(
		(*check).amend,
		when(RuleHooks, "git commit --no-verify", "--no-verify", "n:mFCctuS"),
	),
	"filter-branch": always(RuleHistory, "git filter-branch"),
	"filter-repo":   always(RuleHistory, "git filter-repo"),
	"replace":       always(RuleHistory, "git replace"),
	"update-ref":    always(RuleHistory, "git update-ref"),
	"reflog":        verb(RuleHistory, "git reflog", "expire", "delete", "drop"),
	"prune":         always(RuleHistory, "git prune"),
	"gc":            when(RuleHistory, "git gc --prune", "--prune", ""),
	"branch": all(
		(*check).branches,
		when(RuleHistory, "git branch with force", "--force", "DMCf:u"),
	),
	"tag": all(
		(*check).tag,
		when(RuleHistory, "git tag --force", "--force", "f:mFu"),
	),
	"config":       (*check).config,
	"remote":       (*check).remote,
	"mv":           (*check).move,
	"rm":           (*check).untrack,
	"update-index": (*check).index,
	"symbolic-ref": func(j *check, args []word) {
		if len(operands(args)) > 1 {
			j.deny(RuleHistory, "git symbolic-ref")
		}
	},
	"reset": (*check).reset,

	"clean":          (*check).clean,
	"stash":          (*check).stash,
	"checkout":       (*check).checkout,
	"switch":         (*check).checkout,
	"restore":        (*check).restore,
	"checkout-index": when(RuleDestructive, "git checkout-index --force", "--force", "f"),
	"read-tree":      when(RuleDestructive, "git read-tree --reset", "--reset", "u"),
	"submodule": func(j *check, args []word) {
		if begins(args, "deinit") || begins(args, "update") {
			when(RuleDestructive, "git submodule "+args[0].Text+" --force", "--force", "f")(j, args)
		}
	},
	"credential": verb(RuleSecret, "git credential", "fill"),

	"init":         (*check).initial,
	"archive":      output("-o", "--output"),
	"format-patch": output("-o", "--output-directory"),
	"diff":         output("", "--output"),
	"bundle": func(j *check, args []word) {
		if ops := operands(args); len(ops) > 1 && ops[0].Text == "create" {
			j.each(ops[1], j.write)
		}
	},
	"worktree": (*check).worktree,
	"clone":    (*check).clone,
}

func (j *check) isProtected(branch string) bool {
	return branch != "" && slices.ContainsFunc(j.rules.ProtectedBranches, func(glob string) bool {
		ok, err := path.Match(glob, branch)
		return ok && err == nil
	})
}

// fetch may write local branches by a refspec: `git fetch . topic:main`.
func (j *check) fetch(args []word) {
	for _, w := range operands(args) {
		_, to, ok := strings.Cut(w.Text, ":")
		if ok && j.isProtected(strings.TrimPrefix(to, "refs/heads/")) {
			j.deny(RuleMerge, "fetching into "+clip(to))
		}
	}
}

// reset of files in the index is harmless; of the work tree it is not, and
// moving the branch back is a rewrite.
func (j *check) reset(args []word) {
	moves := has(args, "--soft", "") || has(args, "--mixed", "") // with these, no files may be named
	for _, mode := range []string{"--hard", "--merge", "--keep"} {
		if has(args, mode, "") {
			j.throws("git reset " + mode)
			moves = true
		}
	}
	ops := operands(args)
	if len(ops) == 0 || args[0].Text == "--" || atHead(ops[0].Text) {
		return
	}
	if to := ops[0]; moves || to.Static && (revision(to.Text) || j.isProtected(to.Text)) {
		j.deny(RuleHistory, "git reset to "+clip(to.Source))
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
// away; a single file may go back to what was last committed.
func (j *check) checkout(args []word) {
	ops := operands(args)
	switch {
	case !j.scratch && (flag(args, "--force", "f", "bBcC") || has(args, "--discard-changes", "")):
		j.throws("a forced checkout")
	case !j.scratch && j.wholeTree(ops):
		j.throws("git checkout of everything")
	case flag(args, "--force-create", "BC", "bc"):
		j.deny(RuleHistory, "resetting a branch")
	case contains(args, "--"):
		at := slices.IndexFunc(args, func(w word) bool { return w.Text == "--" })
		if old := operands(args[:at]); len(old) > 0 && !atHead(old[0].Text) {
			j.all(args[at+1:], j.write)
		}
	case len(ops) == 1 && (!fileName(ops[0].Text) || j.isProtected(ops[0].Text)):
		j.switches(j.dir, ops[0])
	case len(ops) > 1 && flag(args, "--create", "bc", ""):
		j.switches(j.dir, ops[0])
	case len(ops) > 1 && !atHead(ops[0].Text):
		j.all(ops[1:], j.write)
	}
}

func atHead(rev string) bool { return rev == "HEAD" || rev == "@" }

func (j *check) restore(args []word) {
	staged := flag(args, "--staged", "S", "s") && !flag(args, "--worktree", "W", "s")
	ops := operands(without(args, "s", "--source"))
	source, given := option(args, "-s", "--source")
	switch {
	case staged:
	case j.wholeTree(ops):
		j.throws("git restore of everything")
	case given && !atHead(source.Text):
		j.all(ops, j.write)
	}
}

// branches: a protected one may not be deleted, renamed or moved.
func (j *check) branches(args []word) {
	if !flag(args, "--delete", "dDmMf", "u") && !has(args, "--move", "") && !has(args, "--force", "") {
		return
	}
	for _, w := range operands(args) {
		if j.isProtected(w.Text) {
			j.deny(RuleMerge, "git branch on "+clip(w.Text))
		}
	}
}

func (j *check) move(args []word) {
	ops := operands(args)
	if len(ops) < 2 || has(args, "--dry-run", "n") {
		return
	}
	j.all(ops[:len(ops)-1], j.remove)
	j.into(ops[:len(ops)-1], ops[len(ops)-1])
}

func (j *check) untrack(args []word) {
	if !has(args, "--dry-run", "n") && !has(args, "--cached", "") {
		j.all(operands(args), j.remove)
	}
}

// index judges what hides changes from git, or puts others in their place.
func (j *check) index(args []word) {
	for _, o := range []string{"--assume-unchanged", "--skip-worktree", "--cacheinfo", "--index-info", "--force-remove"} {
		if has(args, o, "") {
			j.deny(RuleGitDir, "git update-index "+o)
			return
		}
	}
}

func contains(args []word, text string) bool {
	return slices.ContainsFunc(args, func(w word) bool { return w.Text == text })
}

// wholeTree reports whether all of the work tree, or of the folder at hand, is among the
// paths.
func (j *check) wholeTree(ops []word) bool {
	for _, w := range ops {
		switch p := j.resolve(w.Text); {
		case listed(". ./ * :/ : / :(top)", w.Text), w.Static && p != "" && within(slashed(j.rules.Root), p):
			return true
		}
	}
	return false
}
