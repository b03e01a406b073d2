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
	ChangedInLoop func(path string) bool
	// Tagged reports whether a tag was made since the loop began, in the repository
	// that a folder is in.
	TaggedInLoop func(dir, tag string) bool
	// Newest is the message of the newest entry in one of git's logs (HEAD,
	// refs/stash) of the repository that a folder is in, "" if it is not known.
	NewestEntry func(dir, log string) string
	// Stashed is when the newest stash of that repository was made, to the second; zero
	// if that is not known.
	NewestStashTime func(dir string) time.Time
	// Untracked lists the files below a folder that git neither tracks nor ignores,
	// absolute; false if they cannot be told.
	UntrackedFiles func(dir string) ([]string, bool)
	// Ours reports whether every process that runs a program is the loop's.
	OwnsEveryProcess func(program string) bool
}

// made is what calls made, as far as their text tells. What belongs to a repository
// stands behind its work tree and a line break.
type agentWork struct {
	files           map[string]bool        // absolute paths
	gitObjects      map[string]bool        // commits by subject, stashes by message, tags by name, see inGit
	stashTimes      map[string][]time.Time // without a message, by the work tree
	callTime        time.Time              // of the call that is read
	runningCommands []string               // commands that were left running
	isBackground    bool                   // the call under way is left running as a whole
}

// history is what earlier calls of the agent made. They are read again, in order, for
// it: few calls ask.
func (j *checker) earlierWork() *agentWork {
	if j.earlier != nil {
		return j.earlier
	}
	j.earlier = &agentWork{files: map[string]bool{}, gitObjects: map[string]bool{}, stashTimes: map[string][]time.Time{}}
	if j.rules.History.Calls == nil {
		return j.earlier
	}
	rules := j.rules
	rules.History = History{}
	for _, c := range j.rules.History.Calls() {
		if c.Kind.ReadOnly() {
			continue
		}
		j.earlier.isBackground = c.Background
		j.earlier.callTime = c.At
		again := newChecker(c, rules)
		again.recordTo = j.earlier
		again.checkCall(c)
	}
	return j.earlier
}

func (m *agentWork) addFile(p string) {
	if m != nil {
		m.files[p] = true
	}
}

func (m *agentWork) removeFiles(paths ...string) {
	if m == nil {
		return
	}
	for _, p := range paths {
		delete(m.files, p)
	}
}

// left notes a command that continues running when its call has ended.
func (m *agentWork) addRunning(c *shell.Command) {
	if m != nil && (c.Background || m.isBackground) {
		m.runningCommands = append(m.runningCommands, shell.Join(c.Args).Text)
	}
}

// inGit notes something in the repository at hand while an earlier call is read.
func (j *checker) recordInGit(kind, name string) {
	if j.recordTo != nil && name != "" {
		j.recordTo.gitObjects[j.gitKey(kind, name)] = true
	}
}

// madeInGit reports whether the agent made something in the repository at hand.
func (j *checker) madeInGit(kind, name string) bool {
	return name != "" && j.earlierWork().gitObjects[j.gitKey(kind, name)]
}

func (j *checker) gitKey(kind, name string) string {
	return j.workTreeOf(j.dir) + "\n" + kind + " " + name
}

// madeFile reports whether the agent made what is at a path: a call of its wrote it,
// or something in it, and nothing there is older than the loop.
func (j *checker) isOwnFile(p string) bool {
	if j.rules.History.ChangedInLoop == nil || p == "" {
		return false
	}
	for file := range j.earlierWork().files {
		if isWithin(file, p) {
			return j.rules.History.ChangedInLoop(p)
		}
	}
	return false
}

// newIn tells a path in a shared folder that is nobody else's: nothing is there, or
// the agent made it. The entry of the shared folder counts, not what lies in it.
func (j *checker) isFreeIn(dir, p string) bool {
	rest, below := strings.CutPrefix(p, dir+"/")
	name, _, _ := strings.Cut(rest, "/")
	at := dir + "/" + name
	switch {
	case !below || name == "" || strings.ContainsAny(name, "*?[") || isWithin(cleanPath(j.rules.Root), at):
		return false
	case j.rules.Exists != nil && !j.rules.Exists(at):
		return true
	}
	return j.isOwnFile(at)
}

// clean judges git clean. Of what the agent made it is no more than rm; else it takes
// what others left here too.
func (j *checker) checkClean(args []word) {
	if j.isTemporaryTree || hasOption(args, "--dry-run", "n") {
		return
	}
	paths := operands(dropValueOptions(args, "e", "--exclude"))
	if len(paths) == 0 && !slices.ContainsFunc(args, func(w word) bool { return !isPlainCleanOption(w.Text) }) {
		var known bool
		if paths, known = j.untrackedFiles(); known && len(paths) == 0 {
			return // there is nothing to remove
		}
	}
	if len(paths) == 0 || slices.ContainsFunc(paths, func(w word) bool { return !j.isOwnPath(w) }) {
		j.applyRuleWith(Deny, RuleDestructive, "git clean", "it would remove files that you are not known to have made. Remove your own by name: rm FILE")
		return
	}
	j.checkFiles(paths, j.checkRemove)
}

// plainClean tells the options of git clean that leave alone what is ignored.
func isPlainCleanOption(option string) bool {
	return inList("--force --quiet", option) || len(option) > 1 && option[0] == '-' && strings.Trim(option[1:], "dfq") == ""
}

// untracked are the files that a git clean without paths may remove here.
func (j *checker) untrackedFiles() (paths []word, known bool) {
	if j.rules.History.UntrackedFiles == nil {
		return nil, false
	}
	files, known := j.rules.History.UntrackedFiles(j.dir)
	if !known {
		return nil, false
	}
	for _, file := range files {
		paths = append(paths, word{Text: file, Static: true})
	}
	return paths, true
}

// madePath is madeFile for a path as git takes it: a pattern even where it is quoted.
func (j *checker) isOwnPath(w word) bool {
	return w.Static && !strings.ContainsAny(w.Text, "*?[:") && j.isOwnFile(j.resolve(w.Text))
}

// amend judges git commit: only the agent's own last commit may be replaced.
func (j *checker) checkCommit(args []word) {
	message, _ := optionValue(args, "-m", "--message")
	if message.Static {
		j.recordInGit("commit", commitSubject(message.Text))
	}
	if hasOption(args, "--amend", "") && !j.madeInGit("commit", j.newestCommitSubject()) {
		j.deny(RuleHistory, "git commit --amend of a commit that you are not known to have made")
	}
}

// newestCommit is the subject of the commit that git made last, "" if git did
// something else since.
func (j *checker) newestCommitSubject() string {
	if j.rules.History.NewestEntry == nil {
		return ""
	}
	entry := j.rules.History.NewestEntry(j.workTreeOf(j.dir), "HEAD")
	how, subject, _ := strings.Cut(entry, ": ")
	if how == "commit" || strings.HasPrefix(how, "commit (") && how != "commit (merge)" {
		return subject
	}
	return ""
}

// subject is the first paragraph of a commit's message, in one line.
func commitSubject(message string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// tag judges git tag: a tag of the agent's own may be deleted.
func (j *checker) checkTag(args []word) {
	names := operands(dropValueOptions(args, "mFu", "--message --file --local-user"))
	if !hasOptionAmongValued(args, "--delete", "d", "mFu") {
		if len(names) > 0 && names[0].Static && !hasOptionAmongValued(args, "--list", "lnv", "mFu") {
			j.recordInGit("tag", names[0].Text)
		}
		return
	}
	tagged := j.rules.History.TaggedInLoop
	for _, w := range names {
		if !w.Static || tagged == nil || !j.madeInGit("tag", w.Text) || !tagged(j.workTreeOf(j.dir), w.Text) {
			j.deny(RuleHistory, "git tag --delete of a tag that you are not known to have made")
		}
	}
}

// stash judges git stash: the agent may drop the newest stash if it made it, with a
// message of its own, or at the time of one of its calls.
func (j *checker) checkStash(args []word) {
	ops := operands(args)
	if len(ops) == 0 {
		j.recordStash()
		return
	}
	switch sub := ops[0].Text; {
	case sub == "push" || sub == "save":
		message, given := optionValue(args, "-m", "--message")
		if !given && sub == "save" {
			message = shell.Join(ops[1:])
		}
		switch {
		case !given && message.Text == "":
			j.recordStash()
		case message.Static:
			j.recordInGit("stash", strings.TrimSpace(message.Text))
		}
	case sub == "clear", sub == "drop" && !j.isOwnStash(ops[1:]):
		j.applyRuleWith(Deny, RuleDestructive, "git stash "+sub, "what is stashed may be somebody else's work. Take it out with git stash pop, or leave it")
	}
}

func (j *checker) isOwnStash(which []word) bool {
	if j.rules.History.NewestEntry == nil || len(which) > 1 || len(which) == 1 && !inList("0 stash@{0}", which[0].Text) {
		return false
	}
	tree := j.workTreeOf(j.dir)
	newest := j.rules.History.NewestEntry(tree, "refs/stash")
	if strings.HasPrefix(newest, "WIP on ") && j.rules.History.NewestStashTime != nil {
		made := j.rules.History.NewestStashTime(tree)
		return slices.ContainsFunc(j.earlierWork().stashTimes[tree], func(at time.Time) bool {
			return !made.Before(at.Truncate(time.Second)) && made.Before(at.Add(StashWindow))
		})
	}
	_, message, _ := strings.Cut(newest, ": ")
	return j.madeInGit("stash", message)
}

// StashTimeout is how long after the beginning of its call a stash is still that
// call's.
const StashWindow = 10 * time.Second

// stashes notes a stash without a message while an earlier call is read.
func (j *checker) recordStash() {
	if j.recordTo != nil && !j.recordTo.callTime.IsZero() {
		tree := j.workTreeOf(j.dir)
		j.recordTo.stashTimes[tree] = append(j.recordTo.stashTimes[tree], j.recordTo.callTime)
	}
}

// ownPrograms tells a killall of programs that the agent left running, and of which
// nobody else runs any.
func (j *checker) areOwnPrograms(args []word) bool {
	names := operands(args)
	if len(names) == 0 || j.rules.History.OwnsEveryProcess == nil || slices.ContainsFunc(args, func(w word) bool { return !w.Static || strings.HasPrefix(w.Text, "-") && !isPlainKillOption(w, word{}) }) {
		return false
	}
	return !slices.ContainsFunc(names, func(w word) bool {
		left := func(command string) bool {
			program, _, _ := strings.Cut(command, " ")
			return shell.Base(program) == w.Text
		}
		return !slices.ContainsFunc(j.earlierWork().runningCommands, left) || !j.rules.History.OwnsEveryProcess(w.Text)
	})
}

// ownProcess tells a pkill -f whose pattern stands in a command that the agent left
// running, and says more of it than a program's name: that may be anybody's.
func (j *checker) isOwnProcess(args []word) bool {
	ops := operands(args)
	if len(ops) != 1 || !ops[0].Static || !hasOption(args, "--full", "f") || slices.ContainsFunc(args, func(w word) bool { return !isPlainKillOption(w, ops[0]) }) {
		return false
	}
	pattern := strings.Join(strings.Fields(ops[0].Text), " ")
	if pattern != ops[0].Text || strings.ContainsAny(pattern, `*?[]()|^$+{}\`) || !strings.Contains(pattern, " ") {
		return false
	}
	return slices.ContainsFunc(j.earlierWork().runningCommands, func(command string) bool {
		return strings.Contains(" "+command+" ", " "+pattern+" ")
	})
}

// killOption tells the words of pkill that choose no other processes: the pattern, -f
// and a signal.
func isPlainKillOption(w, pattern word) bool {
	t := w.Text
	return t == pattern.Text || inList("-f --full -e --echo", t) || strings.HasPrefix(t, "--signal=") ||
		len(t) > 1 && t[0] == '-' && (strings.Trim(t[1:], "0123456789") == "" || strings.Trim(t[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "")
}
