package testdiff

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/source"
)

// AddSwapped adds the words and numbers of a program's lines that have another in their place: in a line that came
// and is else like one that went. Comments do not count.
func AddSwapped(to map[[2]string]bool, file string, was, is []byte) {
	went, came := linesBeside(file, was, is), linesBeside(file, is, was)
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

// linesBeside are the tokens of the lines of a text that another has not.
func linesBeside(file string, text, other []byte) (all [][]string) {
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
