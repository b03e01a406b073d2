package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

type word = shell.Word

// Run checks one command of a script.
func (j *checker) Run(c *shell.Command) {
	lifted := j.isLifted
	defer func() { j.isLifted = lifted }()
	j.dir = c.Dir
	j.applyCommandPatterns(c)
	for _, w := range c.Writes {
		j.checkFile(w, j.checkWrite)
	}
	for _, w := range c.Reads {
		j.checkFile(w, j.checkRead)
	}
	if len(c.Args) == 0 {
		return
	}
	if name := c.Args[0]; !name.Static || name.Glob {
		j.checkUnnamed(c)
		return
	}
	j.recordTo.addRunning(c)
	name, args := shell.CommandName(c.Args[0].Text), c.Args[1:]
	if sub, ok := strings.CutPrefix(name, "git-"); ok { // git-push, a program in git's own folder
		name, args = "git", append([]word{{Text: sub, Source: sub, Static: true}}, args...)
	}
	switch name {
	case "git":
		j.checkGit(c, args)
	case "gh", "glab":
		j.checkForge(args)
	case "pawl":
		j.checkPawl(args)
	default:
		j.checkPackageManager(name, args)
		j.checkKill(name, args)
		j.checkSystemTool(name, c.Args)
		j.checkUserConfig(name, args)
		j.checkWriteCommand(name, c, args)
		j.checkReadCommand(name, args)
		j.touchShown(c, name, args)
	}
}

// applyCommandPatterns applies the patterns of the settings to a command. A pattern that allows a
// command, or asks about it, covers the commands that this one runs too.
func (j *checker) applyCommandPatterns(c *shell.Command) {
	for _, p := range j.rules.Deny {
		if p.matchesStart(c.Args) {
			j.applyPattern(Deny, p)
		}
	}
	for _, p := range j.rules.Ask {
		if p.matchesStart(c.Args) {
			j.applyPattern(Ask, p)
		}
	}
	for x := c; x != nil && len(j.rules.Allow)+len(j.rules.Ask) > 0; x = x.Outer {
		whole := func(p Pattern) bool { return p.matchesWhole(x.Args) }
		if i := slices.IndexFunc(j.rules.Ask, whole); i >= 0 {
			j.applyPattern(Ask, j.rules.Ask[i])
			j.isLifted = true
		}
		j.isLifted = j.isLifted || slices.ContainsFunc(j.rules.Allow, whole)
	}
}

// checkUnnamed checks a command whose name is unknown or a glob.
func (j *checker) checkUnnamed(c *shell.Command) {
	text := shell.Join(c.Args)
	j.touchShown(c, "", c.Args[1:])
	if name := c.Args[0]; name.Static {
		for _, known := range []string{"git", "npm", "rm", "pkill", "killall", "gh", "pawl", "curl", "sudo", "bash", "sh"} {
			if ok, err := path.Match(shell.Base(name.Text), known); ok && err == nil {
				j.ask("a command whose name is a pattern, " + clip(name.Text))
				return
			}
		}
		return
	}
	if j.denyDownloaded(c.Args[0]) {
		return
	}
	if hasRuleWord(text) {
		j.ask("a command whose name is computed at run time, " + clip(text.Source))
		return
	}
	j.noteUnknown(text.Source)
}

// Script checks shell text that is unknown, in part or as a whole.
func (j *checker) Script(c *shell.Command, w word) {
	j.touchAll()
	switch {
	case j.denyDownloaded(w):
	case hasGitCommand(w):
		j.ask("a command that cannot be read, " + clip(w.Source))
	case c == nil:
		j.noteUnknown("it cannot be parsed as shell: " + w.Source)
	default:
		j.noteUnknown(w.Source)
	}
}

// TooLong asks about a script that exceeds the limits of package shell. Nobody writes such a
// script by hand.
func (j *checker) TooLong(_ *shell.Command, w word) {
	j.touchAll()
	j.ask("a command that is too long or too deeply nested to read, " + clip(w.Source))
}

// downloadCommands are commands that print data from the network.
const downloadCommands = "curl wget http https xh fetch lynx w3m nc ncat netcat socat ftp ssh"

// denyDownloaded denies running text that a download command printed. It reports whether it did.
func (j *checker) denyDownloaded(w word) bool {
	for _, name := range w.From {
		if inList(downloadCommands, name) {
			j.deny(RuleNetwork, "running what "+name+" prints")
			return true
		}
	}
	return false
}

// ruleWords are words that occur in commands which a rule denies.
const ruleWords = "push send-pack rebase filter-branch filter-repo update-ref publish --hard --amend --no-verify"

// hasRuleWord reports whether text contains a word of a rule.
func hasRuleWord(w word) bool {
	return slices.ContainsFunc(tokens(w), func(t string) bool { return inList(ruleWords, t) })
}

// hasGitCommand reports whether unknown text contains git, or another command that publishes,
// closely followed by a word of a rule. Closely, because much code calls a function named push.
func hasGitCommand(w word) bool {
	const close = 4
	since := close + 1
	for _, t := range tokens(w) {
		switch {
		case inList("git npm pnpm yarn cargo twine docker gem", strings.TrimLeft(t, "-")):
			since = 0
		case since < close && inList(ruleWords, t):
			return true
		}
		since++
	}
	return false
}

// hasKillCommand reports whether text contains pkill or killall.
func hasKillCommand(w word) bool {
	return slices.ContainsFunc(tokens(w), func(t string) bool { return t == "pkill" || t == "killall" })
}

// tokens returns the words of a text and of its source, with an empty word between the two.
func tokens(w word) []string {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})
	}
	out := split(w.Text)
	if w.Source != w.Text {
		out = append(append(out, ""), split(w.Source)...)
	}
	if strings.Contains(w.Text, shell.Unknown) {
		out = append(append(out, ""), split(strings.ReplaceAll(w.Text, shell.Unknown, ""))...)
	}
	return out
}

// inList reports whether a blank-separated list contains a word.
func inList(list, w string) bool { return shell.InList(list, w) }
