package guard

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// History describes what the loop's agent did before this call. Some rules let the agent remove or
// rewrite what it made itself. What is not known to be the agent's counts as someone else's. Any
// function may be nil: its answers are then unknown.
type History struct {
	// Calls returns the calls of the loop's agent that ran, oldest first.
	Calls func() []toolcall.Call
	// ChangedInLoop reports whether the file at an absolute path, or each file in the folder
	// there, was created or changed since the loop started.
	ChangedInLoop func(path string) bool
	// TaggedInLoop reports whether a tag was created since the loop started, in the repository of a
	// folder.
	TaggedInLoop func(dir, tag string) bool
	// NewestEntry returns the message of the newest entry in a reflog (HEAD, refs/stash) of the
	// repository of a folder, "" if it is unknown.
	NewestEntry func(dir, log string) string
	// NewestStashTime returns when the newest stash of that repository was created, to the second.
	// It returns the zero time if that is unknown.
	NewestStashTime func(dir string) time.Time
	// UntrackedFiles returns the absolute paths of the files below a folder that git neither
	// tracks nor ignores. It returns false if they are unknown.
	UntrackedFiles func(dir string) ([]string, bool)
	// OwnsEveryProcess reports whether every process of a program belongs to the loop.
	OwnsEveryProcess func(program string) bool
}

// agentWork holds what earlier calls of the agent made, as far as their text shows. Keys of git
// objects begin with their work tree and a line break.
type agentWork struct {
	files           map[string]bool        // absolute paths
	gitObjects      map[string]bool        // commits by subject, stashes by message, tags by name; see gitKey
	stashTimes      map[string][]time.Time // times of stashes without a message, by work tree
	callTime        time.Time              // when the call that is being read began
	runningCommands []string               // commands that still run after their call
	isBackground    bool                   // the call that is being read runs in the background as a whole
}

// earlierWork returns what earlier calls of the agent made. It reads them again, in order, at the
// first request: few calls need it.
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

// addFile records a file that a call wrote.
func (m *agentWork) addFile(p string) {
	if m != nil {
		m.files[p] = true
	}
}

// removeFiles removes files that a call removed.
func (m *agentWork) removeFiles(paths ...string) {
	if m == nil {
		return
	}
	for _, p := range paths {
		delete(m.files, p)
	}
}

// addRunning records a command that continues to run after its call.
func (m *agentWork) addRunning(c *shell.Command) {
	if m != nil && (c.Background || m.isBackground) {
		m.runningCommands = append(m.runningCommands, shell.Join(c.Args).Text)
	}
}

// recordInGit records a git object in the current repository, while an earlier call is read.
func (j *checker) recordInGit(kind, name string) {
	if j.recordTo != nil && name != "" {
		j.recordTo.gitObjects[j.gitKey(kind, name)] = true
	}
}

// madeInGit reports whether the agent made a git object in the current repository.
func (j *checker) madeInGit(kind, name string) bool {
	return name != "" && j.earlierWork().gitObjects[j.gitKey(kind, name)]
}

func (j *checker) gitKey(kind, name string) string {
	return j.workTreeOf(j.dir) + "\n" + kind + " " + name
}

// isOwnFile reports whether the agent made the file or folder at a path: one of its calls wrote in
// it, and nothing there is older than the loop.
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

// isFreeIn reports whether a path in a shared folder belongs to nobody else: it does not exist, or
// the agent made it. It checks the direct entry of the shared folder, not what is below.
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

// checkClean checks git clean. Cleaning files that the agent made is like rm. Otherwise git clean
// may remove files of others.
func (j *checker) checkClean(args []word) {
	if j.isTemporaryTree || hasOption(args, "--dry-run", "n") {
		return
	}
	paths := operandsAmongValued(args, "e", "--exclude")
	if len(paths) == 0 && !slices.ContainsFunc(args, func(w word) bool { return !isPlainCleanOption(w.Text) }) {
		var known bool
		if paths, known = j.untrackedFiles(); known && len(paths) == 0 {
			return // there is nothing to remove
		}
	}
	if len(paths) == 0 || slices.ContainsFunc(paths, func(w word) bool { return !j.isOwnPath(w) }) {
		j.applyRuleWith(Deny, RuleDestructive, "git clean", "it would remove files that Pawl has not seen you create. Remove your own by name: rm FILE")
		return
	}
	j.checkFiles(paths, j.checkRemove)
}

// isPlainCleanOption reports whether an option of git clean leaves ignored files alone.
func isPlainCleanOption(option string) bool {
	return inList("--force --quiet", option) || len(option) > 1 && option[0] == '-' && strings.Trim(option[1:], "dfq") == ""
}

// untrackedFiles returns the files that git clean without paths would remove here.
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

// isOwnPath is isOwnFile for a path argument of git, which treats even a quoted path as a pattern.
func (j *checker) isOwnPath(w word) bool {
	return w.Static && !strings.ContainsAny(w.Text, "*?[:") && j.isOwnFile(j.resolve(w.Text))
}

// checkCommit records a commit, and denies replacing a last commit that the agent did not make.
func (j *checker) checkCommit(args []word) {
	message, _ := optionValue(args, "-m", "--message")
	if message.Static {
		j.recordInGit("commit", commitSubject(message.Text))
	}
	if hasOption(args, "--amend", "") && !j.madeInGit("commit", j.newestCommitSubject()) {
		j.deny(RuleHistory, "git commit --amend of a commit that Pawl has not seen you make")
	}
}

// newestCommitSubject returns the subject of the last commit, "" if git did something else since.
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

// commitSubject returns the first paragraph of a commit message as one line.
func commitSubject(message string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// checkTag records a new tag, and denies deleting a tag that the agent did not make.
func (j *checker) checkTag(args []word) {
	names := operandsAmongValued(args, "mFu", "--message --file --local-user")
	if !hasOptionAmongValued(args, "--delete", "d", "mFu") {
		if len(names) > 0 && names[0].Static && !hasOptionAmongValued(args, "--list", "lnv", "mFu") {
			j.recordInGit("tag", names[0].Text)
		}
		return
	}
	tagged := j.rules.History.TaggedInLoop
	for _, w := range names {
		if !w.Static || tagged == nil || !j.madeInGit("tag", w.Text) || !tagged(j.workTreeOf(j.dir), w.Text) {
			j.deny(RuleHistory, "git tag --delete of a tag that Pawl has not seen you make")
		}
	}
}

// checkStash records a stash, and denies dropping stashes. The agent may drop the newest stash if
// it made it: the stash has the agent's message, or the time of one of its calls.
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
		j.applyRuleWith(Deny, RuleDestructive, "git stash "+sub, "the stash may hold other work. Take it out with git stash pop, or leave it")
	}
}

// isOwnStash reports whether these arguments of git stash drop select a stash of the agent.
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

// StashWindow is how long after a call began a stash without a message counts as made by that
// call.
const StashWindow = 10 * time.Second

// recordStash records a stash without a message, while an earlier call is read.
func (j *checker) recordStash() {
	if j.recordTo != nil && !j.recordTo.callTime.IsZero() {
		tree := j.workTreeOf(j.dir)
		j.recordTo.stashTimes[tree] = append(j.recordTo.stashTimes[tree], j.recordTo.callTime)
	}
}

// areOwnPrograms reports whether killall ends only programs that the agent started in the
// background and that nobody else runs.
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

// isOwnProcess reports whether the pattern of pkill -f is part of a command that the agent started
// in the background. The pattern must be longer than a program's name, which others may run too.
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

// isPlainKillOption reports whether a word of pkill selects no other processes: the pattern, -f or
// a signal.
func isPlainKillOption(w, pattern word) bool {
	t := w.Text
	return t == pattern.Text || inList("-f --full -e --echo", t) || strings.HasPrefix(t, "--signal=") ||
		len(t) > 1 && t[0] == '-' && (strings.Trim(t[1:], "0123456789") == "" || strings.Trim(t[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "")
}
