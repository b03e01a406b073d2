package testdiff

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/source"
)

// matchText reports whether a text without known structure changed only where the task gives other
// words, each as the program does. Numbers in data may be results.
func (a *adaptation) matchText(old, now File) bool {
	was, is := strings.Split(string(old.Content), "\n"), strings.Split(string(now.Content), "\n")
	if len(was) != len(is) || !utf8.Valid(old.Content) {
		return false
	}
	a.known = Words(string(old.Content))
	for i := range was {
		if source.Indent(was[i]) != source.Indent(is[i]) || !a.matchLine(tokensOf(was[i]), tokensOf(is[i])) {
			return false
		}
	}
	return true
}

func (a *adaptation) matchLine(was, is []string) bool {
	return slices.EqualFunc(was, is, func(old, now string) bool {
		return old == now || !number.MatchString(old) && a.matchToken(old, []string{now}, true) > 0
	})
}

// A new option is in the help text, and so in the golden file of the help. A task that names such a
// file lets it have more words and lines, which the work's program has. What it had, it keeps.

// growsText reports whether a text without known structure has all that it had, in order, and the
// task names its file.
func (a *adaptation) growsText(old, now File) bool {
	if !a.namesFile(old.Path) || !utf8.Valid(old.Content) || len(tokensOf(string(old.Content))) == 0 {
		return false
	}
	is := strings.Split(string(now.Content), "\n")
	for was := range strings.SplitSeq(string(old.Content), "\n") {
		for {
			if len(is) == 0 {
				return false
			}
			line := is[0]
			if is = is[1:]; a.growsLine(tokensOf(was), tokensOf(line)) {
				break
			}
			if strings.TrimSpace(line) != "" && !a.growsLine(nil, tokensOf(line)) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(is, func(line string) bool { return !a.growsLine(nil, tokensOf(line)) })
}

// growsLine reports whether a line has the old tokens in order, and between them only words that the
// program has. Punctuation alone could give an old word another meaning.
func (a *adaptation) growsLine(was, is []string) bool {
	if len(was) == 0 && len(is) == 0 {
		return true
	}
	wordless := false // what was inserted since the last old token is punctuation
	worded := false
	for _, token := range is {
		isWord := isName(token) || number.MatchString(token)
		switch {
		case len(was) > 0 && was[0] == token && !(wordless && !worded):
			was, wordless, worded = was[1:], false, false
		case isWord && !a.ProgramWords[token]:
			return false
		default:
			wordless, worded = true, worded || isName(token)
		}
	}
	return len(was) == 0 && (!wordless || worded)
}

// namesFile reports whether the task names a file: by its name, or by this without an ending and its
// folder ("the golden file of help").
func (a *adaptation) namesFile(file string) bool {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	return strings.Contains(a.Task, path.Base(file)) || a.taskWords[stem] && a.taskWords[path.Base(path.Dir(file))]
}
