package guard

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Pattern is an entry of the settings: what to allow, to deny or to ask about. It has one of three
// forms.
//
//   - The id of a rule: push.
//   - The shape of a command: npm publish, git push origin docs/*. The guard compares
//     its words with the first words of each command that would run. A * in a word
//     matches any letters; * or ... as the last word matches any further words. A
//     shape of one word is written run:make.
//   - A path or glob of files that are read or written: secrets/**. With a verb it
//     applies to reading or writing only: read:.env.test, write:dist/**. It is
//     relative to the work tree. ** matches any folders, a folder covers what is in
//     it, and a glob without a slash applies in every folder.
//
// Patterns that tighten the rules match widely, and patterns that loosen them match narrowly. To
// allow a command, or to turn its denial into a question, a shape must match it to its last word:
// npm publish does not allow npm publish --access public. There a * matches no colon: git push
// origin docs/* does not allow a push of docs/x:main.
//
// ParsePattern parses the text form of a pattern.
type Pattern struct {
	text    string
	ruleID  string   // the id of a rule, or
	words   []string // the words of a command's shape, or
	glob    string   // the glob of paths
	verb    string   // "read", "write", "" = both
	anyRest bool     // whether any further words may follow
}

// ParsePattern parses a pattern. The error says what is wrong and how to write it.
func ParsePattern(s string) (Pattern, error) {
	text := strings.TrimSpace(s)
	p := Pattern{text: text}
	if text == "" {
		return p, errors.New("an empty pattern of the guard")
	}
	if _, ok := findRule(text); ok {
		p.ruleID = text
		return p, nil
	}
	verb, rest, ok := strings.Cut(text, ":")
	switch {
	case ok && verb == "run":
		return p.parseShape(rest)
	case ok && (verb == "read" || verb == "write"):
		p.verb = verb
		return p.parsePath(strings.TrimSpace(rest))
	case strings.ContainsAny(text, " \t"):
		return p.parseShape(text)
	case ok && len(verb) > 1 && !strings.ContainsAny(verb, `/\*?[~.`):
		return p, fmt.Errorf("%q: %s: must be read:PATH, write:PATH or run:COMMAND", text, verb)
	case strings.ContainsAny(text, `/\*?[~.`):
		return p.parsePath(text)
	}
	return p, fmt.Errorf("%q is not a rule of the guard; for a command write run:%s, for a file write:%s", text, text, text)
}

// parseShape parses the shape of a command.
func (p Pattern) parseShape(s string) (Pattern, error) {
	p.words = strings.Fields(s)
	if n := len(p.words); n > 1 && (p.words[n-1] == "*" || p.words[n-1] == "...") {
		p.words, p.anyRest = p.words[:n-1], true
	}
	if len(p.words) == 0 || p.words[0] == "*" || p.words[0] == "..." {
		return p, fmt.Errorf("%q names no command", p.text)
	}
	return p, nil
}

// parsePath parses a path or glob.
func (p Pattern) parsePath(s string) (Pattern, error) {
	p.glob = s
	if s == "" {
		return p, fmt.Errorf("%q names no path", p.text)
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(s, `\`, "/"), "/") {
		if _, err := path.Match(part, ""); err != nil {
			return p, fmt.Errorf("%q is not a glob: %w", p.text, err)
		}
	}
	return p, nil
}

func (p Pattern) String() string { return p.text }

// MarshalText returns the pattern as it was written.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.text), nil }

// UnmarshalText parses the output of MarshalText.
func (p *Pattern) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePattern(string(b))
	return err
}

// hasRule reports whether patterns contain the id of a rule.
func hasRule(patterns []Pattern, id string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.ruleID == id })
}

// matchesStart reports whether a shape matches the first words of a command, with or without the
// command's options.
func (p Pattern) matchesStart(args []word) bool {
	if len(p.words) == 0 {
		return false
	}
	return p.matchesWords(args, "") || p.matchesWords(operands(args), "")
}

// matchesWhole reports whether a shape matches a whole command.
func (p Pattern) matchesWhole(args []word) bool {
	if len(p.words) == 0 || len(args) > len(p.words) && !p.anyRest {
		return false
	}
	return !slices.ContainsFunc(args, func(a word) bool { return !a.Static }) && p.matchesWords(args, ":")
}

// matchesWords reports whether a shape matches the first words of a command. A * matches none of
// the characters in except.
func (p Pattern) matchesWords(args []word, except string) bool {
	if len(args) < len(p.words) {
		return false
	}
	for i, w := range p.words {
		text := args[i].Text
		if i == 0 && !strings.Contains(w, "/") {
			text = shell.Base(text)
		}
		if !args[i].Static || !matchStars(w, text, except) {
			return false
		}
	}
	return true
}

// matchStars reports whether a pattern matches a word. A * matches any characters but those in
// except.
func matchStars(pattern, s, except string) bool {
	head, rest, ok := strings.Cut(pattern, "*")
	if !ok {
		return pattern == s
	}
	s, ok = strings.CutPrefix(s, head)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	for i, part := range parts {
		at := strings.Index(s, part)
		if i == len(parts)-1 {
			at = len(s) - len(part)
		}
		if at < 0 || !strings.HasSuffix(s[:at+len(part)], part) || strings.ContainsAny(s[:at], except) {
			return false
		}
		s = s[at+len(part):]
	}
	return true
}

// findPathPattern returns the first pattern that applies to reading or writing a path, and whether
// there is one.
func (j *checker) findPathPattern(patterns []Pattern, verb, p string) (Pattern, bool) {
	for _, x := range patterns {
		if x.glob != "" && (x.verb == "" || x.verb == verb) && j.globCovers(x.glob, p) {
			return x, true
		}
	}
	return Pattern{}, false
}

// globCovers reports whether a glob of the settings matches a path or a folder above it.
func (j *checker) globCovers(glob, p string) bool {
	g := j.absoluteGlob(glob)
	return matchGlob(g, p) || matchGlob(g+"/**", p)
}

// absoluteGlob makes a glob of the settings absolute. Relative globs begin at the root.
func (j *checker) absoluteGlob(glob string) string {
	g := strings.TrimSuffix(strings.ReplaceAll(glob, `\`, "/"), "/")
	switch {
	case strings.HasPrefix(g, "~"):
		return j.resolve(g)
	case strings.HasPrefix(g, "/") || shell.HasDriveLetter(g):
		return cleanPath(g)
	case !strings.Contains(strings.TrimPrefix(g, "./"), "/") && !strings.HasPrefix(g, "./") && g != "." && g != "**":
		return cleanPath(j.rules.Root) + "/**/" + g
	}
	return path.Join(cleanPath(j.rules.Root), g)
}

// globFolder returns the deepest folder that contains all files a glob may match. Removing it, or
// a folder above it, removes them.
func (j *checker) globFolder(glob string) string {
	g := j.absoluteGlob(glob)
	if at := strings.IndexAny(g, "*?["); at >= 0 {
		g = g[:strings.LastIndexByte(g[:at], '/')]
	}
	return g
}
