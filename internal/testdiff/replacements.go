package testdiff

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/source"
)

// AddReplacements adds each word or number that replaces another in an otherwise equal line,
// without comments.
func AddReplacements(to map[[2]string]bool, file string, was, is []byte) {
	went, came := onlyIn(file, was, is), onlyIn(file, is, was)
	if len(went)*len(came) > maxCompared {
		return
	}
	for _, w := range went {
		for _, c := range came {
			if len(w) != len(c) {
				continue
			}
			var differ [][2]string
			for i := range w {
				if w[i] != c[i] {
					differ = append(differ, [2]string{w[i], c[i]})
				}
			}
			if 2*len(differ) > len(w) {
				continue
			}
			for _, pair := range differ {
				to[pair] = true
			}
		}
	}
}

// maxCompared bounds the pairs of lines that are compared.
const maxCompared = 1_000_000

// onlyIn returns the tokens of lines that other lacks.
func onlyIn(file string, text, other []byte) (all [][]string) {
	plain := func(text []byte) string {
		if l, known := languageOf(file); known {
			return source.Uncommented(string(text), l.style)
		}
		return string(text)
	}
	has := map[string]bool{}
	for line := range strings.Lines(plain(other)) {
		has[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(plain(text)) {
		if !has[strings.TrimSpace(line)] {
			all = append(all, tokens.FindAllString(line, -1))
		}
	}
	return all
}
