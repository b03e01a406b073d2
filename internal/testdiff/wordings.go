package testdiff

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// A message may get other words in another order: "bad amount: line 3" becomes "line 3: bad amount".
// Then old tests follow where the program's text changed so and the task gives both forms.

// AddWordings adds each quoted text of a program that replaces another in an otherwise equal line, or
// in one that begins as the other did, and each option of a command line that replaces another in such
// a text.
func AddWordings(to map[[2]string]bool, file string, was, is []byte) {
	came := map[string][][]string{}
	for _, line := range linesOnlyIn(file, is, was) {
		around, texts := quotedTexts(line)
		came[around] = append(came[around], texts)
	}
	for _, line := range linesOnlyIn(file, was, is) {
		around, texts := quotedTexts(line)
		for _, others := range came[around] {
			for i, text := range texts {
				if text == others[i] || len(to) >= maxWordings {
					continue
				}
				to[[2]string{text, others[i]}] = true
				for _, pair := range differing(optionsIn.FindAllString(text, -1), optionsIn.FindAllString(others[i], -1)) {
					to[pair] = true
				}
			}
		}
		if before, _, found := strings.Cut(around, "\x01"); found && len(texts) == 1 && strings.Count(before, " ") >= minLineStart {
			for other, all := range came {
				for _, text := range slices.Concat(all...) {
					if strings.HasPrefix(other, before) && text != texts[0] && len(to) < maxWordings {
						to[[2]string{texts[0], text}] = true
					}
				}
			}
		}
	}
}

// minLineStart is how many tokens of two lines are equal at least, if they begin alike.
const minLineStart = 3

// maxWordings bounds the replaced texts of one change.
const maxWordings = 200

// optionsIn matches the options of a command line in a text.
var optionsIn = regex.New(`--?[a-zA-Z][\w-]*`)

// quotedTexts returns the complete texts in the quotes of a line, and the tokens around them, with
// \x01 for each text.
func quotedTexts(line string) (around string, texts []string) {
	var outside []string
	quote, from := "", 0
	for _, at := range tokenIndexes(line) {
		token := line[at[0]:at[1]]
		before := quote
		switch quote = quoted(quote, token); {
		case before == "" && quote != "":
			from = at[1]
		case before != "" && quote == "":
			texts, outside = append(texts, line[from:at[0]]), append(outside, "\x01")
		case quote == "":
			outside = append(outside, token)
		}
	}
	return strings.Join(outside, " "), texts
}

// hole matches what a program fills in: %d, ${n}, {n}.
var hole = regex.New(`%[-+#0]*[\d.*]*[a-zA-Z]|[$#]\{[^{}]*\}|\{[^{}]*\}|\$[a-zA-Z_]\w*`)

// isHole begins the token of a hole.
const isHole = "\x00"

// form returns the tokens of a text, with one for each hole.
func form(text string) (all []string) {
	at := 0
	for _, m := range append(hole.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		all = append(all, tokensOf(`"` + text[at:m[0]])[1:]...)
		if m[0] < m[1] {
			all = append(all, isHole+text[m[0]:m[1]])
		}
		at = m[1]
	}
	return all
}

// maxFilled bounds the tokens that fill a hole.
const maxFilled = 8

// matchForm returns how many of the first tokens have a form, and what fills its holes; 0 for none.
func matchForm(form, text []string) (int, [][]string) {
	if len(form) == 0 {
		return 0, nil
	}
	for i, token := range form {
		if !strings.HasPrefix(token, isHole) {
			if i >= len(text) || text[i] != token {
				return 0, nil
			}
			continue
		}
		for n := 1; n <= min(maxFilled, len(text)-i); n++ {
			if i == len(form)-1 {
				return i + n, [][]string{text[i : i+n]}
			}
			if rest, filled := matchForm(form[i+1:], text[i+n:]); rest > 0 {
				return i + n + rest, slices.Concat([][]string{text[i : i+n]}, filled)
			}
		}
		return 0, nil
	}
	return len(form), nil
}

// fillsAlike reports whether the holes of two forms are filled alike. A hole that only the new form has
// is filled with words and numbers of the old test: what the test gives to the program.
func (a *adaptation) fillsAlike(w wording, was, is [][]string) bool {
	byHole := map[string][][]string{}
	for i, hole := range holesOf(w.was) {
		byHole[hole] = append(byHole[hole], was[i])
	}
	for i, hole := range holesOf(w.is) {
		filled := byHole[hole]
		switch {
		case len(filled) > 0 && slices.Equal(filled[0], is[i]):
			byHole[hole] = filled[1:]
		case len(filled) > 0 || slices.ContainsFunc(is[i], func(token string) bool { return !a.known[token] }):
			return false
		}
	}
	return !slices.ContainsFunc(slices.Collect(maps.Values(byHole)), func(rest [][]string) bool { return len(rest) > 0 })
}

// holesOf returns the holes of a form.
func holesOf(form []string) []string {
	return slices.DeleteFunc(slices.Clone(form), func(token string) bool { return !strings.HasPrefix(token, isHole) })
}

// wording is a replaced text that the task gives in both forms.
type wording struct{ was, is []string }

// wordings returns the replaced texts that the task gives in both forms.
func (w Work) wordings() (all []wording) {
	task := tokensOf(w.Task)
	for pair := range w.Wordings {
		is := wording{form(pair[0]), form(pair[1])}
		if gives(task, is.was) && gives(task, is.is) {
			all = append(all, is)
		}
	}
	return all
}

// gives reports whether a task gives a form, but for what is no word at its ends.
func gives(task, form []string) bool {
	isWord := func(token string) bool {
		return isName(token) || number.MatchString(token) || strings.HasPrefix(token, isHole) || token == "-"
	}
	for len(form) > 0 && !isWord(form[0]) {
		form = form[1:]
	}
	for len(form) > 0 && !isWord(form[len(form)-1]) {
		form = form[:len(form)-1]
	}
	if !slices.ContainsFunc(form, func(token string) bool { return isName(token) && (len(token) > 2 || form[0] == "-") }) {
		return false
	}
	return contains(task, form)
}

// contains reports whether a form is anywhere in a text.
func contains(text, form []string) bool {
	for i := range text {
		if n, _ := matchForm(form, text[i:]); n > 0 {
			return true
		}
	}
	return false
}

// reworded returns how many of the first tokens have another wording, and how many this has; 0 for
// none.
func (a *adaptation) reworded(was, is []string) (old, now int) {
	for _, w := range a.worded {
		old, before := matchForm(w.was, was)
		now, after := matchForm(w.is, is)
		if old > 0 && now > 0 && a.fillsAlike(w, before, after) {
			return old, now
		}
	}
	return a.correctsText(was, is)
}

// matchText reports whether a text without known structure changed only where the task gives other
// words. Numbers in data may be results.
func (a *adaptation) matchText(old, now File) bool {
	was, is := strings.Split(string(old.Content), "\n"), strings.Split(string(now.Content), "\n")
	if len(was) != len(is) || !utf8.Valid(old.Content) {
		return false
	}
	a.known = Words(string(old.Content))
	a.worded = a.freeWordings(tokensOf(string(old.Content)))
	for i := range was {
		if source.Indent(was[i]) != source.Indent(is[i]) || !a.matchLine(tokensOf(was[i]), tokensOf(is[i])) {
			return false
		}
	}
	return true
}

func (a *adaptation) matchLine(was, is []string) bool {
	for len(was) > 0 && len(is) > 0 {
		old, now := a.reworded(was, is)
		if old == 0 && (was[0] == is[0] || !number.MatchString(was[0])) {
			old, now = 1, a.matchToken(was[0], is, true)
		}
		if now == 0 {
			return false
		}
		was, is = was[old:], is[now:]
	}
	return len(was)+len(is) == 0
}

// freeWordings returns the wordings whose new form an old file does not have: two texts must not
// become one.
func (a *adaptation) freeWordings(old []string) []wording {
	return slices.DeleteFunc(a.wordings(), func(w wording) bool { return contains(old, w.is) })
}

// A test itself may be wrong. Then the task names it and says what it expects and what is right:
// "test_pages expects 2 pages; 1 is right". One value of that test may change so.

// correctsText returns how many of the first tokens are a text in quotes that the task gives, and how many
// another one that it gives behind it, if the task names the test; 0 for none.
func (a *adaptation) correctsText(was, is []string) (old, now int) {
	if !a.inNamedTest || a.correction != nil {
		return 0, 0
	}
	_, texts := quotedTexts(strings.ReplaceAll(a.Task, "\n", " "))
	ends := func(in []string, text string) int {
		if t := tokensOf(text); len(t) > 0 && len(in) > len(t) && slices.Equal(in[:len(t)], t) && slices.Contains([]string{`"`, "'", "`"}, in[len(t)]) {
			return len(t)
		}
		return 0
	}
	for i, text := range texts {
		for _, other := range texts[i+1:] {
			if old, now = ends(was, text), ends(is, other); old > 0 && now > 0 && text != other {
				a.correction = []string{text, other}
				return old, now
			}
		}
	}
	return 0, 0
}

// expectTest makes a test the one that is adapted.
func (a *adaptation) expectTest(name string) {
	a.correction = nil
	a.inNamedTest = a.taskWords[name] && len(name) > len("test")+1 && (strings.Contains(name, "_") || wordBoundary.MatchString(name))
}

// corrects reports whether the task gives a value of the test that it names, and behind it another.
func (a *adaptation) corrects(old, now string) bool {
	if !a.inNamedTest || a.correction != nil || !a.namesValue(old) || !a.namesValue(now) {
		return false
	}
	said := tokens.FindAllString(a.Task, -1)
	if at := slices.Index(said, old); !slices.Contains(said[at+1:], now) {
		return false
	}
	a.correction = []string{old, now}
	return true
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
