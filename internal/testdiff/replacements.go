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

// A map may become a record: {"lat": 1, "lon": 2} becomes Point(1, 2), and p["lat"] becomes p.lat. Then
// old tests follow, where the work added the type and the task names it. Each value stays with its field.

// asRecord returns how many of the first old tokens are a map or a look at one, and how many of the new
// ones the same of a record; 0 for none.
func (a *adaptation) asRecord(old, now []string) (was, is int) {
	if len(old) > 4 && old[0] == "[" && quotes.MatchString(old[1]) && old[3] == old[1] && old[4] == "]" {
		if len(now) > 1 && now[0] == "." && now[1] == old[2] && a.hasField(old[2]) {
			return 5, 2
		}
		return 0, 0
	}
	if old[0] != "{" {
		return 0, 0
	}
	if now[0] == "new" {
		now, is = now[1:], 1
	}
	if len(now) < 2 || now[1] != "(" || !a.AddedNames[now[0]] || !a.mentions(now[0]) {
		return 0, 0
	}
	had, has := bracketed(old), bracketed(now[1:])
	if !sameFields(a.Records[now[0]], arguments(had), arguments(has)) {
		return 0, 0
	}
	return len(had), is + 1 + len(has)
}

// hasField reports whether a type that the work added and the task names has a field.
func (a *adaptation) hasField(name string) bool {
	for record, fields := range a.Records {
		if a.AddedNames[record] && a.mentions(record) && slices.Contains(fields, name) {
			return true
		}
	}
	return false
}

// sameFields reports whether a record is given the entries of a map: by name, or in the order of fields.
func sameFields(fields []string, entries, values [][]string) bool {
	if len(entries) == 0 || len(entries) != len(values) {
		return false
	}
	for i, entry := range entries {
		key, value := keyOf(entry)
		given := values[i]
		switch {
		case key == "":
			return false
		case len(given) > 2 && given[0] == key && given[1] == "=":
			given = given[2:]
		case i >= len(fields) || fields[i] != key:
			return false
		}
		if !slices.Equal(value, given) {
			return false
		}
	}
	return true
}

// keyOf returns the name that an entry of a map has, in quotes or not, and its value.
func keyOf(entry []string) (key string, value []string) {
	switch {
	case len(entry) > 4 && quotes.MatchString(entry[0]) && entry[2] == entry[0] && entry[3] == ":":
		return entry[1], entry[4:]
	case len(entry) > 2 && isName(entry[0]) && entry[1] == ":":
		return entry[0], entry[2:]
	}
	return "", nil
}
