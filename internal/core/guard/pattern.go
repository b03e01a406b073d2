package guard

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Pattern is a line of the settings: what to allow, to deny or to ask about. It
// is written in one of three ways.
//
//   - The id of a rule: push.
//   - The shape of a command: npm publish, git push origin docs/*. Its words are
//     compared with the first words of each command that would run; a * in a word
//     stands for any letters, and * or ... as the last word for any further words.
//     A shape of one word is written run:make.
//   - A path or glob, of files that are read or written: secrets/**. With a verb
//     it is about the one only: read:.env.test, write:dist/**. It is relative to
//     the work tree, ** stands for any folders, a folder stands for what is in it,
//     and a glob without a slash is looked for in every folder.
//
// What tightens is read widely and what loosens is read narrowly: to lift
// a rule, or to make a question of it, a shape must match a command to its last word, so that npm publish allows no
// npm publish --access public, and its stars match no colon, so that
// git push origin docs/* allows no push of docs/x:main.
//
// Its text form is what ParsePattern reads.
type Pattern struct {
	text    string
	ruleID  string   // id of a rule, or
	words   []string // shape of a command, or
	glob    string   // of paths
	verb    string   // "read", "write", "" = both
	anyRest bool     // any further words may follow
}

// ParsePattern reads a pattern. The error says what is wrong and how it could be
// written.
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
		return p, fmt.Errorf("%q: %s: is none of read:PATH, write:PATH and run:COMMAND", text, verb)
	case strings.ContainsAny(text, `/\*?[~.`):
		return p.parsePath(text)
	}
	return p, fmt.Errorf("%q is not a rule of the guard; for a command write run:%s, for a file write:%s", text, text, text)
}

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

// MarshalText gives the pattern as it was written.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.text), nil }

// UnmarshalText reads what MarshalText gave.
func (p *Pattern) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePattern(string(b))
	return err
}

func hasRule(patterns []Pattern, id string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.ruleID == id })
}

// tightens reports whether a shape is about a command: its words begin it, with or
// without the command's options.
func (p Pattern) matchesStart(args []word) bool {
	if len(p.words) == 0 {
		return false
	}
	return p.matchesWords(args, "") || p.matchesWords(operands(args), "")
}

// loosens reports whether a shape is the whole of a command.
func (p Pattern) matchesWhole(args []word) bool {
	if len(p.words) == 0 || len(args) > len(p.words) && !p.anyRest {
		return false
	}
	return !slices.ContainsFunc(args, func(a word) bool { return !a.Static }) && p.matchesWords(args, ":")
}

func (p Pattern) matchesWords(args []word, but string) bool {
	if len(args) < len(p.words) {
		return false
	}
	for i, w := range p.words {
		text := args[i].Text
		if i == 0 && !strings.Contains(w, "/") {
			text = shell.Base(text)
		}
		if !args[i].Static || !matchStars(w, text, but) {
			return false
		}
	}
	return true
}

// starred compares a word with a pattern in which * stands for any letters but
// those of but.
func matchStars(pattern, s, but string) bool {
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
		if at < 0 || !strings.HasSuffix(s[:at+len(part)], part) || strings.ContainsAny(s[:at], but) {
			return false
		}
		s = s[at+len(part):]
	}
	return true
}

// about reports whether a pattern is about reading or writing a path.
func (j *checker) findPathPattern(patterns []Pattern, verb, p string) (Pattern, bool) {
	for _, x := range patterns {
		if x.glob != "" && (x.verb == "" || x.verb == verb) && j.globCovers(x.glob, p) {
			return x, true
		}
	}
	return Pattern{}, false
}

// covers reports whether a glob of the settings, relative to the root, matches a
// path or a folder above it.
func (j *checker) globCovers(glob, p string) bool {
	g := j.absoluteGlob(glob)
	return matchGlob(g, p) || matchGlob(g+"/**", p)
}

// whole makes a glob of the settings absolute.
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

// fixed is the folder in which all that a glob stands for lies: whoever removes that,
// or one above it, removes them.
func (j *checker) globFolder(glob string) string {
	g := j.absoluteGlob(glob)
	if at := strings.IndexAny(g, "*?["); at >= 0 {
		g = g[:strings.LastIndexByte(g[:at], '/')]
	}
	return g
}
