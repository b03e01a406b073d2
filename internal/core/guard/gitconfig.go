package guard

import "strings"

// config may take the user's commit hooks away, or lead their pushes elsewhere.
func (j *check) config(args []word) {
	ops := operands(without(args, "f", "--file --blob"))
	reads := has(args, "--get", "") || has(args, "--get-all", "") || has(args, "--list", "l") || len(ops) > 0 && listed("get list", ops[0].Text)
	unsets := has(args, "--unset", "") || has(args, "--unset-all", "") || len(ops) > 0 && ops[0].Text == "unset"
	if len(ops) > 0 && listed("set unset get", ops[0].Text) {
		ops = ops[1:]
	}
	if reads || len(ops) == 0 || len(ops) < 2 && !unsets {
		return
	}
	switch key := strings.ToLower(ops[0].Text); {
	case key == "core.hookspath":
		j.deny(RuleHooks, "changing core.hooksPath")
	case strings.HasPrefix(key, "filter."), strings.HasPrefix(key, "include"), listed("core.attributesfile core.worktree core.fsmonitor", key):
		j.deny(RuleGitDir, "changing what git takes for the work tree, "+clip(key))
	case leads(key) && j.here():
		j.deny(RulePush, "changing where and how git pushes, "+clip(key[:strings.IndexByte(key, '.')])+clip(key[strings.LastIndexByte(key, '.'):]))
	}
	if has(args, "--global", "") || has(args, "--system", "") {
		j.deny(RuleOutside, "git config beyond this repository")
	}
}

// leads reports whether a setting says where git pushes to, by which program or with
// whose password. Between its section and its name an address may stand.
func leads(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	name := key[strings.LastIndexByte(key, '.')+1:]
	switch section {
	case "url", "credential":
		return true
	case "remote":
		return listed("url pushurl vcs receivepack proxy", name)
	}
	return listed("core.sshcommand core.gitproxy core.askpass", key)
}

// remote may point the user's next push elsewhere.
func (j *check) remote(args []word) {
	ops := operands(args)
	if len(ops) > 1 && listed("add set-url rename remove rm", ops[0].Text) && j.here() {
		j.deny(RulePush, "git remote "+ops[0].Text)
	}
}

// here reports whether git works on the loop's own repository: one that a test makes
// elsewhere may push where it likes.
func (j *check) here() bool {
	p := j.followed(j.dir)
	return j.dir == "" || within(p, slashed(j.rules.Root))
}
