package guard

import "strings"

// checkGitConfig denies settings that disable commit hooks, redirect pushes, or change files
// outside this repository.
func (j *checker) checkGitConfig(args []word) {
	ops := operandsAmongValued(args, "f", "--file --blob")
	reads := hasOption(args, "--get", "") || hasOption(args, "--get-all", "") || hasOption(args, "--list", "l") || len(ops) > 0 && inList("get list", ops[0].Text)
	unsets := hasOption(args, "--unset", "") || hasOption(args, "--unset-all", "") || len(ops) > 0 && ops[0].Text == "unset"
	if len(ops) > 0 && inList("set unset get", ops[0].Text) {
		ops = ops[1:]
	}
	if reads || len(ops) == 0 || len(ops) < 2 && !unsets {
		return
	}
	switch key := strings.ToLower(ops[0].Text); {
	case key == "core.hookspath":
		j.deny(RuleHooks, "changing core.hooksPath")
	case strings.HasPrefix(key, "filter."), strings.HasPrefix(key, "include"), inList("core.attributesfile core.worktree core.fsmonitor", key):
		j.deny(RuleGitDir, "changing what git takes for the work tree, "+clip(key))
	case isPushSetting(key) && j.inLoopRepository():
		j.deny(RulePush, "changing where and how git pushes, "+clip(key[:strings.IndexByte(key, '.')])+clip(key[strings.LastIndexByte(key, '.'):]))
	}
	if hasOption(args, "--global", "") || hasOption(args, "--system", "") {
		j.deny(RuleOutside, "git config beyond this repository")
	}
}

// isPushSetting reports whether a setting determines where git pushes to, by which program, or
// with which password. A URL may be between the section and the name of a key.
func isPushSetting(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	name := key[strings.LastIndexByte(key, '.')+1:]
	switch section {
	case "url", "credential":
		return true
	case "remote":
		return inList("url pushurl vcs receivepack proxy", name)
	}
	return inList("core.sshcommand core.gitproxy core.askpass", key)
}

// checkGitRemote denies changes to remotes: the user's next push could go to another repository.
func (j *checker) checkGitRemote(args []word) {
	ops := operands(args)
	if len(ops) > 1 && inList("add set-url rename remove rm", ops[0].Text) && j.inLoopRepository() {
		j.deny(RulePush, "git remote "+ops[0].Text)
	}
}

// inLoopRepository reports whether git works on the loop's own repository. A test may push from a
// repository that it creates elsewhere.
func (j *checker) inLoopRepository() bool {
	p := j.followLinks(j.dir)
	return j.dir == "" || isWithin(p, cleanPath(j.rules.Root))
}
