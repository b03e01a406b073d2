package testdiff

import (
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
