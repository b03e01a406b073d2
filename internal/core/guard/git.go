package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// checkGit checks a git command. The arguments begin after the word git. Package shell reports the
// commands that git's aliases and settings run.
func (j *checker) checkGit(c *shell.Command, args []word) {
	dir, scratch := j.dir, j.isTemporaryTree
	defer func() { j.dir, j.isTemporaryTree = dir, scratch }()
	args = j.applyGitLocation(c, args)
	if len(args) == 0 {
		return
	}
	sub, rest := args[0], args[1:]
	switch {
	case !sub.Static && hasRuleWord(shell.Join(args)):
		j.ask("a git command that is computed at run time, " + clip(shell.Join(args).Source))
	case !sub.Static:
		j.noteUnknown("git " + shell.Join(args).Source)
	case sub.Glob:
		j.ask("a git command that is a pattern, " + clip(sub.Text))
	case hasOption(rest, "--help", ""):
	default:
		if p := j.followLinks(j.dir); j.dir != "" && inList(treeCommands, sub.Text) && !isWithin(p, cleanPath(j.rules.Root)) && !j.isWritable(p) {
			j.deny(RuleOutside, "git "+sub.Text+" in "+clip(p))
		}
		j.touchGitShown(sub.Text, rest)
		if applyRules, ok := gitRules[sub.Text]; ok {
			applyRules(j, rest)
		}
		switch sub.Text {
		case "apply", "am":
			j.checkApply(c, rest)
		case "commit", "merge":
			j.checkHookVariables(c)
		}
	}
}

// treeCommands are the git commands that change the work tree or the repository in which they run.
const treeCommands = "add am apply checkout cherry-pick clean commit init merge mv pull reset restore revert rm stash switch"

// checkHookVariables denies variables that disable commit hooks.
func (j *checker) checkHookVariables(c *shell.Command) {
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

// checkApply checks the files that a patch changes, if the script contains its text.
func (j *checker) checkApply(c *shell.Command, args []word) {
	if slices.ContainsFunc([]string{"--check", "--stat", "--numstat", "--summary", "--abort", "--cached"}, func(o string) bool { return hasOption(args, o, "") }) {
		return
	}
	j.checkPatch(c.In.Text)
	if ops := operands(args); len(ops) > 0 && ops[0].Text != "-" {
		j.noteUnknown("the patch " + ops[0].Source)
	}
}

// gitRule checks the arguments of a git subcommand.
type gitRule func(j *checker, args []word)

// denyAlways returns a rule that denies a subcommand.
func denyAlways(id, what string) gitRule {
	return func(j *checker, _ []word) { j.deny(id, what) }
}

// checkPush denies a push, unless it is a dry run that starts no program on the other side.
func (j *checker) checkPush(args []word) {
	runsOrUnread := func(w word) bool {
		return !w.Static || strings.Contains(w.Text, "::") || slices.ContainsFunc([]string{"--no-d", "--rec", "--exe"}, func(option string) bool { return strings.HasPrefix(w.Text, option) })
	}
	if !hasOptionAmongValued(args, "--dry-run", "n", "o") || slices.ContainsFunc(args, runsOrUnread) {
		j.deny(RulePush, "git push")
	}
}

// denyWithOption returns a rule that denies a subcommand with one of these options. The letters
// after a colon are other short options, which take a value.
func denyWithOption(id, what, long, short string) gitRule {
	short, valueLetters, _ := strings.Cut(short, ":")
	return func(j *checker, args []word) {
		if hasOptionAmongValued(args, long, short, valueLetters) {
			j.deny(id, what)
		}
	}
}

// denySubcommands returns a rule that denies these subcommands of a git subcommand.
func denySubcommands(id, what string, names ...string) gitRule {
	return func(j *checker, args []word) {
		ops := operands(args)
		for _, name := range names {
			if len(ops) > 0 && ops[0].Text == name {
				j.deny(id, what+" "+name)
			}
		}
	}
}

// allRules returns a rule that applies several rules.
func allRules(rules ...gitRule) gitRule {
	return func(j *checker, args []word) {
		for _, r := range rules {
			r(j, args)
		}
	}
}

// gitRules holds the rules of git subcommands. A subcommand without a rule is allowed.
var gitRules = map[string]gitRule{
	"push":      (*checker).checkPush,
	"send-pack": denyAlways(RulePush, "git send-pack"),
	"subtree":   denySubcommands(RulePush, "git subtree", "push"),
	"lfs":       denySubcommands(RulePush, "git lfs", "push"),
	"svn":       denySubcommands(RulePush, "git svn", "dcommit"),

	"merge": allRules(
		denyWithOption(RuleHooks, "git merge --no-verify", "--no-verify", ""),
		func(j *checker, args []word) {
			if at := j.currentBranch(); !hasOption(args, "--abort", "") && j.isProtectedBranch(at) {
				j.deny(RuleMerge, "git merge into "+clip(at))
			}
		},
	),
	"fetch": (*checker).checkFetch,
	"pull": allRules(
		func(j *checker, args []word) {
			if !hasOption(args, "--rebase", "r") || containsWord(args, "--rebase=false") {
				return
			}
			j.deny(RuleHistory, "git pull --rebase")
		},
		(*checker).checkFetch,
	),

	"rebase": func(j *checker, args []word) {
		if !hasOption(args, "--abort", "") && !hasOption(args, "--show-current-patch", "") {
			j.deny(RuleHistory, "git rebase")
		}
	},
	"commit": allRules(
		(*checker).checkCommit,
		denyWithOption(RuleHooks, "git commit --no-verify", "--no-verify", "n:mFCctuS"),
	),
	"filter-branch": denyAlways(RuleHistory, "git filter-branch"),
	"filter-repo":   denyAlways(RuleHistory, "git filter-repo"),
	"replace":       denyAlways(RuleHistory, "git replace"),
	"update-ref":    denyAlways(RuleHistory, "git update-ref"),
	"reflog":        denySubcommands(RuleHistory, "git reflog", "expire", "delete", "drop"),
	"prune":         denyAlways(RuleHistory, "git prune"),
	"gc":            denyWithOption(RuleHistory, "git gc --prune", "--prune", ""),
	"branch": allRules(
		(*checker).checkBranch,
		denyWithOption(RuleHistory, "git branch with force", "--force", "DMCf:u"),
	),
	"tag": allRules(
		(*checker).checkTag,
		denyWithOption(RuleHistory, "git tag --force", "--force", "f:mFu"),
	),
	"config":       (*checker).checkGitConfig,
	"remote":       (*checker).checkGitRemote,
	"mv":           (*checker).checkMove,
	"rm":           (*checker).checkGitRm,
	"update-index": (*checker).checkUpdateIndex,
	"symbolic-ref": func(j *checker, args []word) {
		if len(operands(args)) > 1 {
			j.deny(RuleHistory, "git symbolic-ref")
		}
	},
	"reset": (*checker).checkReset,

	"clean":          (*checker).checkClean,
	"stash":          (*checker).checkStash,
	"checkout":       (*checker).checkCheckout,
	"switch":         (*checker).checkCheckout,
	"restore":        (*checker).checkRestore,
	"checkout-index": denyWithOption(RuleDestructive, "git checkout-index --force", "--force", "f"),
	"read-tree":      denyWithOption(RuleDestructive, "git read-tree --reset", "--reset", "u"),
	"submodule": func(j *checker, args []word) {
		if startWith(args, "deinit") || startWith(args, "update") {
			denyWithOption(RuleDestructive, "git submodule "+args[0].Text+" --force", "--force", "f")(j, args)
		}
	},
	"credential": denySubcommands(RuleSecret, "git credential", "fill"),

	"init":         (*checker).checkInit,
	"archive":      checkOutputOption("-o", "--output"),
	"format-patch": checkOutputOption("-o", "--output-directory"),
	"diff":         checkOutputOption("", "--output"),
	"bundle": func(j *checker, args []word) {
		if ops := operands(args); len(ops) > 1 && ops[0].Text == "create" {
			j.checkFile(ops[1], j.checkWrite)
		}
	},
	"worktree": (*checker).checkWorktree,
	"clone":    (*checker).checkClone,
}

// isProtectedBranch reports whether a branch is protected.
func (j *checker) isProtectedBranch(branch string) bool {
	return branch != "" && slices.ContainsFunc(j.rules.ProtectedBranches, func(glob string) bool {
		ok, err := path.Match(glob, branch)
		return ok && err == nil
	})
}

// checkFetch denies a refspec that writes a protected local branch: `git fetch . topic:main`.
func (j *checker) checkFetch(args []word) {
	for _, w := range operands(args) {
		_, to, ok := strings.Cut(w.Text, ":")
		if ok && j.isProtectedBranch(strings.TrimPrefix(to, "refs/heads/")) {
			j.deny(RuleMerge, "fetching into "+clip(to))
		}
	}
}

// checkReset denies resets of the work tree, which discard changes, and resets of the branch,
// which rewrite history. A reset of files in the index is harmless.
func (j *checker) checkReset(args []word) {
	moves := hasOption(args, "--soft", "") || hasOption(args, "--mixed", "") // these modes accept no files
	for _, mode := range []string{"--hard", "--merge", "--keep"} {
		if hasOption(args, mode, "") {
			j.denyDiscard("git reset " + mode)
			moves = true
		}
	}
	ops := operands(args)
	if len(ops) == 0 || args[0].Text == "--" || isHead(ops[0].Text) {
		return
	}
	if to := ops[0]; moves || to.Static && (isRevision(to.Text) || j.isProtectedBranch(to.Text)) {
		j.deny(RuleHistory, "git reset to "+clip(to.Source))
	}
}

// isRevision reports whether an operand looks like a commit and not like a file.
func isRevision(s string) bool {
	if strings.ContainsAny(s, "~^@") || strings.HasSuffix(s, "_HEAD") || strings.HasPrefix(s, "origin/") {
		return true
	}
	return len(s) >= 7 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// checkCheckout records the branch that git switches to. It denies a checkout that discards the
// changes of the whole tree. A single file may be reset to the last commit.
func (j *checker) checkCheckout(args []word) {
	ops := operands(args)
	switch {
	case !j.isTemporaryTree && (hasOptionAmongValued(args, "--force", "f", "bBcC") || hasOption(args, "--discard-changes", "")):
		j.denyDiscard("a forced checkout")
	case !j.isTemporaryTree && j.includesTree(ops):
		j.denyDiscard("git checkout of everything")
	case hasOptionAmongValued(args, "--force-create", "BC", "bc"):
		j.deny(RuleHistory, "resetting a branch")
	case containsWord(args, "--"):
		at := slices.IndexFunc(args, func(w word) bool { return w.Text == "--" })
		if old := operands(args[:at]); len(old) > 0 && !isHead(old[0].Text) {
			j.checkFiles(args[at+1:], j.checkWrite)
		}
	case len(ops) == 1 && (!isFileName(ops[0].Text) || j.isProtectedBranch(ops[0].Text)):
		j.recordSwitch(j.dir, ops[0])
	case len(ops) > 1 && hasOption(args, "--create", "bc"):
		j.recordSwitch(j.dir, ops[0])
	case len(ops) > 1 && !isHead(ops[0].Text):
		j.checkFiles(ops[1:], j.checkWrite)
	}
}

// isHead reports whether a revision is the last commit.
func isHead(rev string) bool { return rev == "HEAD" || rev == "@" }

// checkRestore denies git restore of the whole tree, and checks the files that it restores from
// another revision.
func (j *checker) checkRestore(args []word) {
	staged := hasOptionAmongValued(args, "--staged", "S", "s") && !hasOptionAmongValued(args, "--worktree", "W", "s")
	ops := operandsAmongValued(args, "s", "--source")
	source, given := optionValue(args, "-s", "--source")
	switch {
	case staged:
	case j.includesTree(ops):
		j.denyDiscard("git restore of everything")
	case given && !isHead(source.Text):
		j.checkFiles(ops, j.checkWrite)
	}
}

// checkBranch denies deleting, renaming or moving a protected branch.
func (j *checker) checkBranch(args []word) {
	if !hasOptionAmongValued(args, "--delete", "dDmMf", "u") && !hasOption(args, "--move", "") && !hasOption(args, "--force", "") {
		return
	}
	for _, w := range operands(args) {
		if j.isProtectedBranch(w.Text) {
			j.deny(RuleMerge, "git branch on "+clip(w.Text))
		}
	}
}

// checkMove checks the old and new names of git mv.
func (j *checker) checkMove(args []word) {
	ops := operands(args)
	if len(ops) < 2 || hasOption(args, "--dry-run", "n") {
		return
	}
	j.checkFiles(ops[:len(ops)-1], j.checkRemove)
	j.checkTarget(ops[:len(ops)-1], ops[len(ops)-1])
}

// checkGitRm checks the files that git rm removes.
func (j *checker) checkGitRm(args []word) {
	if !hasOption(args, "--dry-run", "n") && !hasOption(args, "--cached", "") {
		j.checkFiles(operands(args), j.checkRemove)
	}
}

// checkUpdateIndex denies options that hide changes from git or replace files in the index.
func (j *checker) checkUpdateIndex(args []word) {
	for _, o := range []string{"--assume-unchanged", "--skip-worktree", "--cacheinfo", "--index-info", "--force-remove"} {
		if hasOption(args, o, "") {
			j.deny(RuleGitDir, "git update-index "+o)
			return
		}
	}
}

// containsWord reports whether an argument is this text.
func containsWord(args []word, text string) bool {
	return slices.ContainsFunc(args, func(w word) bool { return w.Text == text })
}

// includesTree reports whether one of the paths is the work tree or the current folder.
func (j *checker) includesTree(ops []word) bool {
	for _, w := range ops {
		switch p := j.resolve(w.Text); {
		case inList(". ./ * :/ : / :(top)", w.Text), w.Static && p != "" && isWithin(cleanPath(j.rules.Root), p):
			return true
		}
	}
	return false
}
