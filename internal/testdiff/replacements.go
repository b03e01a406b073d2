package testdiff

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/source"
)

// AddReplacements adds each word or number that replaces another in an otherwise equal line,
// without comments. In a text, such as a template, it may be a whole line between others that stay.
func AddReplacements(to map[[2]string]bool, file string, was, is []byte) {
	if _, known := languageOf(file); !known {
		addWholeLines(to, strings.Split(string(was), "\n"), strings.Split(string(is), "\n"))
	}
	went, came := onlyIn(file, was, is), onlyIn(file, is, was)
	if len(went)*len(came) > maxCompared {
		return
	}
	for _, w := range went {
		for _, c := range came {
			differ := differing(w, c)
			if 2*len(differ) > len(w) {
				continue
			}
			for _, pair := range differ {
				to[pair] = true
			}
		}
	}
}

// addWholeLines adds what replaces the words of a line between two that stay.
func addWholeLines(to map[[2]string]bool, was, is []string) {
	if len(was) != len(is) {
		return
	}
	for i := range was {
		if i > 0 && was[i-1] != is[i-1] || i+1 < len(was) && was[i+1] != is[i+1] {
			continue
		}
		for _, pair := range differing(tokensOf(was[i]), tokensOf(is[i])) {
			to[pair] = true
		}
	}
}

// differing returns the tokens that differ between two lines with as many tokens.
func differing(was, is []string) (pairs [][2]string) {
	if len(was) != len(is) {
		return nil
	}
	for i := range was {
		if was[i] != is[i] {
			pairs = append(pairs, [2]string{was[i], is[i]})
		}
	}
	return pairs
}

// maxCompared bounds the pairs of lines that are compared.
const maxCompared = 1_000_000

// onlyIn returns the tokens of lines that other lacks.
func onlyIn(file string, text, other []byte) (all [][]string) {
	for _, line := range linesOnlyIn(file, text, other) {
		all = append(all, tokensOf(line))
	}
	return all
}

// linesOnlyIn returns the lines that other lacks, without comments.
func linesOnlyIn(file string, text, other []byte) (all []string) {
	plain := func(text []byte) string {
		if l, known := languageOf(file); known {
			return source.Uncommented(string(text), l.style())
		}
		return string(text)
	}
	has := map[string]bool{}
	for line := range strings.Lines(plain(other)) {
		has[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(plain(text)) {
		if !has[strings.TrimSpace(line)] {
			all = append(all, line)
		}
	}
	return all
}

// A test itself may be wrong. Then the task names it and says what it expects and what is right:
// "test_pages expects 2 pages; 1 is right". One value of that test may change so.

// correctsText returns how many of the first tokens are a text in quotes that the task gives, and how many
// another one that it gives behind it, if the task names the test; 0 for none.
func (a *adaptation) correctsText(was, is []string) (old, now int) {
	if !a.inNamedTest || a.correction != nil {
		return 0, 0
	}
	texts := inQuotes.FindAllString(strings.ReplaceAll(a.Task, "\n", " "), -1)
	ends := func(in []string, text string) int {
		if t := tokensOf(text[1 : len(text)-1]); len(t) > 0 && len(in) > len(t) && slices.Equal(in[:len(t)], t) && slices.Contains([]string{`"`, "'", "`"}, in[len(t)]) {
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
