package guard

import (
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// applyGitLocation removes git's global options and returns the rest. It sets the current folder
// by the options and variables that say where git works. The rule about discarded work asks for
// the work tree only, since a repository elsewhere may have its work tree here.
func (j *checker) applyGitLocation(c *shell.Command, args []word) []word {
	cwd := j.dir
	j.isTemporaryTree = j.isWritableOutside(cwd)
	setDir := func(name string, w word) {
		j.dir = ""
		if w.Static {
			j.dir = strings.TrimSuffix(shell.Abs(cwd, j.rules.Home, w.Text), "/.git")
		}
		if name == "-C" {
			cwd = j.dir
		}
		if !inList("GIT_DIR --git-dir", name) {
			j.isTemporaryTree = j.isWritableOutside(j.dir)
		}
	}
	for _, w := range c.Env {
		if name, value, _ := strings.Cut(w.Text, "="); inList("GIT_DIR GIT_WORK_TREE", name) && value != "" {
			setDir(name, word{Text: value, Static: w.Static})
		}
	}
	rebases := false
	for len(args) > 0 && args[0].Static && strings.HasPrefix(args[0].Text, "-") {
		name, text, joined := strings.Cut(args[0].Text, "=")
		value := word{Text: text, Static: true}
		if !joined && inList("-C -c --git-dir --work-tree --namespace --config-env", name) && len(args) > 1 {
			value, args = args[1], args[1:]
		}
		switch setting := strings.ToLower(value.Text); {
		case value.Text == "":
		case inList("-C --git-dir --work-tree", name):
			setDir(name, value)
		case strings.HasPrefix(setting, "core.hookspath"):
			j.deny(RuleHooks, "git "+name+" core.hooksPath")
		case strings.HasPrefix(setting, "pull.rebase="):
			rebases = setting != "pull.rebase=false"
		}
		args = args[1:]
	}
	if rebases && len(args) > 0 && args[0].Text == "pull" {
		args = append([]word{args[0], {Text: "--rebase", Static: true}}, args[1:]...)
	}
	return args
}

// isWritableOutside reports whether a folder is outside the loop's work tree and may be written.
// There git may discard what rm may remove.
func (j *checker) isWritableOutside(p string) bool {
	real := j.followLinks(p)
	return p != "" && !isWithin(real, cleanPath(j.rules.Root)) && j.isWritable(real)
}

// denyDiscard denies discarding uncommitted work, unless the work tree is a temporary one.
func (j *checker) denyDiscard(what string) {
	if !j.isTemporaryTree {
		j.deny(RuleDestructive, what)
	}
}

// checkOutputOption returns a rule that checks the file which an option of a subcommand names.
func checkOutputOption(short, long string) gitRule {
	return func(j *checker, args []word) { j.checkOptionFiles(args, [][2]string{{short, long}}, j.checkWrite) }
}

// checkInit checks the folder that git init creates.
func (j *checker) checkInit(args []word) {
	ops := operandsAmongValued(args, "b", "--initial-branch --template --separate-git-dir --object-format")
	j.checkFiles(ops[:min(1, len(ops))], j.checkNewFolder)
}

// checkClone checks the folder that git clone creates: the one that is named, or one in the
// current folder with the name of the repository.
func (j *checker) checkClone(args []word) {
	ops := operandsAmongValued(args, "bocj", "--branch --depth --origin --reference --config --filter --jobs")
	switch len(ops) {
	case 0:
	case 1:
		name := strings.TrimSuffix(path.Base(ops[0].Text), ".git")
		if p := j.resolve(name); p != "" {
			name = p
		}
		j.checkNewFolder(name, false)
	default:
		j.checkFile(ops[len(ops)-1], j.checkWrite)
	}
}

// workTreeOf returns the work tree of a folder: the root for all folders in it, else the folder
// itself.
func (j *checker) workTreeOf(dir string) string {
	if p := j.followLinks(dir); dir == "" || isWithin(p, cleanPath(j.rules.Root)) {
		return cleanPath(j.rules.Root)
	}
	return cleanPath(dir)
}

// recordSwitch records the branch that a work tree switches to.
func (j *checker) recordSwitch(dir string, to word) {
	branch := to.Text
	if !to.Static || branch == "-" {
		branch = ""
	}
	j.switchedBranches[j.workTreeOf(dir)] = branch
}

// currentBranch returns the branch of git's current work tree, "" if it is unknown.
func (j *checker) currentBranch() string {
	tree := j.workTreeOf(j.dir)
	for at := tree; ; at = path.Dir(at) {
		if branch, ok := j.switchedBranches[at]; ok {
			return branch
		}
		if at == path.Dir(at) {
			break
		}
	}
	switch {
	case j.rules.BranchOf != nil:
		return j.rules.BranchOf(tree)
	case tree == cleanPath(j.rules.Root):
		return j.rules.Branch
	}
	return ""
}

// checkWorktree checks the folders that git worktree creates, moves or removes.
func (j *checker) checkWorktree(args []word) {
	ops := operandsAmongValued(args, "bB", "--reason")
	switch {
	case len(ops) > 1 && ops[0].Text == "add":
		j.checkFile(ops[1], j.checkWrite)
		if w, ok := optionValue(args, "-b", "-B"); ok {
			ops = append(ops[:2:2], w)
		}
		if len(ops) > 2 && ops[1].Static {
			j.recordSwitch(j.resolve(ops[1].Text), ops[2])
		}
	case len(ops) > 2 && ops[0].Text == "move":
		j.checkFile(ops[2], j.checkWrite)
	case len(ops) > 1 && ops[0].Text == "remove" && hasOption(args, "--force", "f"):
		if w := ops[1]; !w.Static || !j.isWritableOutside(j.resolve(w.Text)) {
			j.deny(RuleDestructive, "git worktree remove --force")
		}
	}
}
