package guard

import (
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// gitPlaces takes off what stands before the subcommand, and follows what of it and of
// the variables says where git works. A repository that lies elsewhere may still have
// its work tree here: what throws work away asks for that alone.
func (j *check) gitPlaces(c *shell.Command, args []word) []word {
	cwd := j.dir
	j.scratch = j.temporary(cwd)
	at := func(name string, w word) {
		j.dir = ""
		if w.Static {
			j.dir = strings.TrimSuffix(shell.Abs(cwd, j.rules.Home, w.Text), "/.git")
		}
		if name == "-C" {
			cwd = j.dir
		}
		if !listed("GIT_DIR --git-dir", name) {
			j.scratch = j.temporary(j.dir)
		}
	}
	for _, w := range c.Env {
		if name, value, _ := strings.Cut(w.Text, "="); listed("GIT_DIR GIT_WORK_TREE", name) && value != "" {
			at(name, word{Text: value, Static: w.Static})
		}
	}
	rebases := false
	for len(args) > 0 && args[0].Static && strings.HasPrefix(args[0].Text, "-") {
		name, text, joined := strings.Cut(args[0].Text, "=")
		value := word{Text: text, Static: true}
		if !joined && listed("-C -c --git-dir --work-tree --namespace --config-env", name) && len(args) > 1 {
			value, args = args[1], args[1:]
		}
		switch setting := strings.ToLower(value.Text); {
		case value.Text == "":
		case listed("-C --git-dir --work-tree", name):
			at(name, value)
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

// temporary tells a folder that may be written although it is none of the loop's: what
// git would throw away there, rm may remove.
func (j *check) temporary(p string) bool {
	real := j.followed(p)
	return p != "" && !within(real, slashed(j.rules.Root)) && j.writable(real)
}

// throws judges what throws away work that is not committed.
func (j *check) throws(what string) {
	if !j.scratch {
		j.deny(RuleDestructive, what)
	}
}

// output makes a rule for a subcommand that writes what an option names.
func output(short, long string) gitRule {
	return func(j *check, args []word) { j.optionFiles(args, [][2]string{{short, long}}, j.write) }
}

func (j *check) initial(args []word) {
	ops := operands(without(args, "b", "--initial-branch --template --separate-git-dir --object-format"))
	j.all(ops[:min(1, len(ops))], j.makeFolder)
}

// clone goes to the folder that is named, or to one here that is called like what it
// clones.
func (j *check) clone(args []word) {
	ops := operands(without(args, "bocj", "--branch --depth --origin --reference --config --filter --jobs"))
	switch len(ops) {
	case 0:
	case 1:
		name := strings.TrimSuffix(path.Base(ops[0].Text), ".git")
		if p := j.resolve(name); p != "" {
			name = p
		}
		j.makeFolder(name, false)
	default:
		j.each(ops[len(ops)-1], j.write)
	}
}

// workTree is the folder whose branch counts in a folder: the root for all in it.
func (j *check) workTree(dir string) string {
	if p := j.followed(dir); dir == "" || within(p, slashed(j.rules.Root)) {
		return slashed(j.rules.Root)
	}
	return slashed(dir)
}

// switches notes the branch that a work tree goes to.
func (j *check) switches(dir string, to word) {
	if j.heads == nil {
		j.heads = map[string]string{}
	}
	branch := to.Text
	if !to.Static || branch == "-" {
		branch = ""
	}
	j.heads[j.workTree(dir)] = branch
}

// head is the branch that git is on where it works.
func (j *check) head() string {
	tree := j.workTree(j.dir)
	for at := tree; ; at = path.Dir(at) {
		if branch, ok := j.heads[at]; ok {
			return branch
		}
		if at == path.Dir(at) {
			break
		}
	}
	switch {
	case j.rules.Head != nil:
		return j.rules.Head(tree)
	case tree == slashed(j.rules.Root):
		return j.rules.Branch
	}
	return ""
}

func (j *check) worktree(args []word) {
	ops := operands(without(args, "bB", "--reason"))
	switch {
	case len(ops) > 1 && ops[0].Text == "add":
		j.each(ops[1], j.write)
		if w, ok := option(args, "-b", "-B"); ok {
			ops = append(ops[:2:2], w)
		}
		if len(ops) > 2 && ops[1].Static {
			j.switches(j.resolve(ops[1].Text), ops[2])
		}
	case len(ops) > 2 && ops[0].Text == "move":
		j.each(ops[2], j.write)
	case len(ops) > 1 && ops[0].Text == "remove" && has(args, "--force", "f"):
		if w := ops[1]; !w.Static || !j.temporary(j.resolve(w.Text)) {
			j.deny(RuleDestructive, "git worktree remove --force")
		}
	}
}
