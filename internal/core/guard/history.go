package guard

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// History tells what the loop's agent did before the call that is judged. Some rules
// allow what takes away or rewrites a thing that the agent made itself. What is not
// known to be its own is not. Any of the functions may be nil: then nobody knows.
type History struct {
	// Calls are the calls of the loop's agent that ran, oldest first.
	Calls func() []toolcall.Call
	// Since reports whether the file at an absolute path, or all files in the folder
	// there, were made or changed since the loop began.
	Since func(path string) bool
	// Tagged reports whether a tag was made since the loop began, in the repository
	// that a folder is in.
	Tagged func(dir, tag string) bool
	// Newest is the message of the newest entry in one of git's logs (HEAD,
	// refs/stash) of the repository that a folder is in, "" if it is not known.
	Newest func(dir, log string) string
	// Stashed is when the newest stash of that repository was made, to the second; zero
	// if that is not known.
	Stashed func(dir string) time.Time
	// Untracked lists the files below a folder that git neither tracks nor ignores,
	// absolute; false if they cannot be told.
	Untracked func(dir string) ([]string, bool)
	// Ours reports whether every process that runs a program is the loop's.
	Ours func(program string) bool
}

// made is what calls made, as far as their text tells. What belongs to a repository
// stands behind its work tree and a line break.
type made struct {
	files   map[string]bool        // absolute paths
	git     map[string]bool        // commits by subject, stashes by message, tags by name, see inGit
	stashed map[string][]time.Time // without a message, by the work tree
	at      time.Time              // of the call that is read
	running []string               // commands that were left running
	always  bool                   // the call under way is left running as a whole
}

// history is what earlier calls of the agent made. They are read again, in order, for
// it: few calls ask.
func (j *check) history() *made {
	if j.before != nil {
		return j.before
	}
	j.before = &made{files: map[string]bool{}, git: map[string]bool{}, stashed: map[string][]time.Time{}}
	if j.rules.Past.Calls == nil {
		return j.before
	}
	rules := j.rules
	rules.Past = History{}
	for _, c := range j.rules.Past.Calls() {
		if c.Kind.ReadOnly() {
			continue
		}
		j.before.always = c.Background
		j.before.at = c.At
		again := newCheck(c, rules)
		again.notes = j.before
		again.call(c)
	}
	return j.before
}

func (m *made) file(p string) {
	if m != nil {
		m.files[p] = true
	}
}

func (m *made) gone(paths ...string) {
	if m == nil {
		return
	}
	for _, p := range paths {
		delete(m.files, p)
	}
}

// left notes a command that continues running when its call has ended.
func (m *made) left(c *shell.Command) {
	if m != nil && (c.Background || m.always) {
		m.running = append(m.running, shell.Join(c.Args).Text)
	}
}

// inGit notes something in the repository at hand while an earlier call is read.
func (j *check) inGit(kind, name string) {
	if j.notes != nil && name != "" {
		j.notes.git[j.gitKey(kind, name)] = true
	}
}

// madeInGit reports whether the agent made something in the repository at hand.
func (j *check) madeInGit(kind, name string) bool {
	return name != "" && j.history().git[j.gitKey(kind, name)]
}

func (j *check) gitKey(kind, name string) string { return j.workTree(j.dir) + "\n" + kind + " " + name }

// madeFile reports whether the agent made what is at a path: a call of its wrote it,
// or something in it, and nothing there is older than the loop.
func (j *check) madeFile(p string) bool {
	if j.rules.Past.Since == nil || p == "" {
		return false
	}
	for file := range j.history().files {
		if within(file, p) {
			return j.rules.Past.Since(p)
		}
	}
	return false
}

// newIn tells a path in a shared folder that is nobody else's: nothing is there, or
// the agent made it. The entry of the shared folder counts, not what lies in it.
func (j *check) newIn(dir, p string) bool {
	rest, below := strings.CutPrefix(p, dir+"/")
	name, _, _ := strings.Cut(rest, "/")
	at := dir + "/" + name
	switch {
	case !below || name == "" || strings.ContainsAny(name, "*?[") || within(slashed(j.rules.Root), at):
		return false
	case j.rules.There != nil && !j.rules.There(at):
		return true
	}
	return j.madeFile(at)
}

// clean judges git clean. Of what the agent made it is no more than rm; else it takes
// what others left here too.
func (j *check) clean(args []word) {
	if j.scratch || has(args, "--dry-run", "n") {
		return
	}
	paths := operands(without(args, "e", "--exclude"))
	if len(paths) == 0 && !slices.ContainsFunc(args, func(w word) bool { return !plainClean(w.Text) }) {
		var known bool
		if paths, known = j.untracked(); known && len(paths) == 0 {
			return // there is nothing to remove
		}
	}
	if len(paths) == 0 || slices.ContainsFunc(paths, func(w word) bool { return !j.madePath(w) }) {
		j.advise(Deny, RuleDestructive, "git clean", "it would remove files that you are not known to have made. Remove your own by name: rm FILE")
		return
	}
	j.all(paths, j.remove)
}

// plainClean tells the options of git clean that leave alone what is ignored.
func plainClean(option string) bool {
	return listed("--force --quiet", option) || len(option) > 1 && option[0] == '-' && strings.Trim(option[1:], "dfq") == ""
}

// untracked are the files that a git clean without paths may remove here.
func (j *check) untracked() (paths []word, known bool) {
	if j.rules.Past.Untracked == nil {
		return nil, false
	}
	files, known := j.rules.Past.Untracked(j.dir)
	if !known {
		return nil, false
	}
	for _, file := range files {
		paths = append(paths, word{Text: file, Static: true})
	}
	return paths, true
}

// madePath is madeFile for a path as git takes it: a pattern even where it is quoted.
func (j *check) madePath(w word) bool {
	return w.Static && !strings.ContainsAny(w.Text, "*?[:") && j.madeFile(j.resolve(w.Text))
}

// amend judges git commit: only the agent's own last commit may be replaced.
func (j *check) amend(args []word) {
	message, _ := option(args, "-m", "--message")
	if message.Static {
		j.inGit("commit", subject(message.Text))
	}
	if has(args, "--amend", "") && !j.madeInGit("commit", j.newestCommit()) {
		j.deny(RuleHistory, "git commit --amend of a commit that you are not known to have made")
	}
}

// newestCommit is the subject of the commit that git made last, "" if git did
// something else since.
func (j *check) newestCommit() string {
	if j.rules.Past.Newest == nil {
		return ""
	}
	entry := j.rules.Past.Newest(j.workTree(j.dir), "HEAD")
	how, subject, _ := strings.Cut(entry, ": ")
	if how == "commit" || strings.HasPrefix(how, "commit (") && how != "commit (merge)" {
		return subject
	}
	return ""
}

// subject is the first paragraph of a commit's message, in one line.
func subject(message string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// tag judges git tag: a tag of the agent's own may be deleted.
func (j *check) tag(args []word) {
	names := operands(without(args, "mFu", "--message --file --local-user"))
	if !flag(args, "--delete", "d", "mFu") {
		if len(names) > 0 && names[0].Static && !flag(args, "--list", "lnv", "mFu") {
			j.inGit("tag", names[0].Text)
		}
		return
	}
	tagged := j.rules.Past.Tagged
	for _, w := range names {
		if !w.Static || tagged == nil || !j.madeInGit("tag", w.Text) || !tagged(j.workTree(j.dir), w.Text) {
			j.deny(RuleHistory, "git tag --delete of a tag that you are not known to have made")
		}
	}
}

// stash judges git stash: the agent may drop the newest stash if it made it, with a
// message of its own, or at the time of one of its calls.
func (j *check) stash(args []word) {
	ops := operands(args)
	if len(ops) == 0 {
		j.stashes()
		return
	}
	switch sub := ops[0].Text; {
	case sub == "push" || sub == "save":
		message, given := option(args, "-m", "--message")
		if !given && sub == "save" {
			message = shell.Join(ops[1:])
		}
		switch {
		case !given && message.Text == "":
			j.stashes()
		case message.Static:
			j.inGit("stash", strings.TrimSpace(message.Text))
		}
	case sub == "clear", sub == "drop" && !j.ownStash(ops[1:]):
		j.advise(Deny, RuleDestructive, "git stash "+sub, "what is stashed may be somebody else's work. Take it out with git stash pop, or leave it")
	}
}

func (j *check) ownStash(which []word) bool {
	if j.rules.Past.Newest == nil || len(which) > 1 || len(which) == 1 && !listed("0 stash@{0}", which[0].Text) {
		return false
	}
	tree := j.workTree(j.dir)
	newest := j.rules.Past.Newest(tree, "refs/stash")
	if strings.HasPrefix(newest, "WIP on ") && j.rules.Past.Stashed != nil {
		made := j.rules.Past.Stashed(tree)
		return slices.ContainsFunc(j.history().stashed[tree], func(at time.Time) bool {
			return !made.Before(at.Truncate(time.Second)) && made.Before(at.Add(StashTimeout))
		})
	}
	_, message, _ := strings.Cut(newest, ": ")
	return j.madeInGit("stash", message)
}

// StashTimeout is how long after the beginning of its call a stash is still that
// call's.
const StashTimeout = 10 * time.Second

// stashes notes a stash without a message while an earlier call is read.
func (j *check) stashes() {
	if j.notes != nil && !j.notes.at.IsZero() {
		tree := j.workTree(j.dir)
		j.notes.stashed[tree] = append(j.notes.stashed[tree], j.notes.at)
	}
}

// ownPrograms tells a killall of programs that the agent left running, and of which
// nobody else runs any.
func (j *check) ownPrograms(args []word) bool {
	names := operands(args)
	if len(names) == 0 || j.rules.Past.Ours == nil || slices.ContainsFunc(args, func(w word) bool { return !w.Static || strings.HasPrefix(w.Text, "-") && !killOption(w, word{}) }) {
		return false
	}
	return !slices.ContainsFunc(names, func(w word) bool {
		left := func(command string) bool {
			program, _, _ := strings.Cut(command, " ")
			return shell.Base(program) == w.Text
		}
		return !slices.ContainsFunc(j.history().running, left) || !j.rules.Past.Ours(w.Text)
	})
}

// ownProcess tells a pkill -f whose pattern stands in a command that the agent left
// running, and says more of it than a program's name: that may be anybody's.
func (j *check) ownProcess(args []word) bool {
	ops := operands(args)
	if len(ops) != 1 || !ops[0].Static || !has(args, "--full", "f") || slices.ContainsFunc(args, func(w word) bool { return !killOption(w, ops[0]) }) {
		return false
	}
	pattern := strings.Join(strings.Fields(ops[0].Text), " ")
	if pattern != ops[0].Text || strings.ContainsAny(pattern, `*?[]()|^$+{}\`) || !strings.Contains(pattern, " ") {
		return false
	}
	return slices.ContainsFunc(j.history().running, func(command string) bool {
		return strings.Contains(" "+command+" ", " "+pattern+" ")
	})
}

// killOption tells the words of pkill that choose no other processes: the pattern, -f
// and a signal.
func killOption(w, pattern word) bool {
	t := w.Text
	return t == pattern.Text || listed("-f --full -e --echo", t) || strings.HasPrefix(t, "--signal=") ||
		len(t) > 1 && t[0] == '-' && (strings.Trim(t[1:], "0123456789") == "" || strings.Trim(t[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "")
}
