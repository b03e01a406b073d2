package mutant

import (
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/source"
)

// Uncallable are the functions that old text cannot call, by name. The value is the head of the old
// function's copy that MutateAll and MutateFunctions add under another name; "" = there is none.
type Uncallable map[string]string

// These end the names of an old function's copy beside the current one, and of a current one's beside
// the old one.
const (
	oldSuffix = "_pawl_old"
	newSuffix = "_pawl_new"
)

// checksCalls reports whether a compiler refuses a call with other parameters: then a copy that does
// not fit never runs.
func checksCalls(file string) bool {
	return source.HasExtension("*.go *.rs *.java "+clang, file)
}

// copyHead returns the head of a copy of an old function, or "" if there is none.
func copyHead(file string, old function) string {
	if !checksCalls(file) {
		return ""
	}
	head, _, _ := strings.Cut(old.text, "{")
	return renamed(file, strings.TrimSpace(head), Uncallable{old.name: old.text}, oldSuffix)
}

// oldCopy returns the mutant that adds an old function under another name after the current one.
func oldCopy(f Function, misfits Uncallable) Mutant {
	m := f.Mutants[0]
	return Mutant{Old, m.Does, m.to, m.to, "\n\n" + renamed(f.Path, f.old, misfits, oldSuffix)}
}

// unusedCopy returns the current text of a Go function under another name, if it uses a package that
// its old text does not: Go refuses an unused import.
func unusedCopy(file string, old, now function, imports []string) string {
	if len(imports) == 0 {
		return ""
	}
	was, is := Code(file, []byte(old.text)), Code(file, []byte(now.text))
	if !slices.ContainsFunc(imports, func(name string) bool { return Names(is, name) && !Names(was, name) }) {
		return ""
	}
	return "\n\n" + renamed(file, now.text, Uncallable{now.name: now.text}, newSuffix)
}

// callingCopies returns the mutant that restores a function whose old text calls the copies. It returns
// false if the text names a function without a copy.
func callingCopies(f Function, misfits Uncallable) (Mutant, bool) {
	m := f.Mutants[0]
	text := renamed(f.Path, f.old, misfits, oldSuffix) + strings.TrimPrefix(m.text, f.old)
	for _, name := range slices.Sorted(maps.Keys(misfits)) {
		if !Names(f.old, name) {
			continue
		}
		if misfits[name] == "" {
			return m, false
		}
		if source.HasExtension(clang, f.Path) && !strings.ContainsAny(f.Name+name, ".:") { // it may stand below
			text = misfits[name] + ";\n" + text
		}
	}
	m.text = text
	return m, true
}

// renamed returns a text that names the copies of functions. What a dot precedes is a field unless it
// is called.
func renamed(file, text string, misfits Uncallable, suffix string) string {
	bare := map[string]bool{}
	for name, head := range misfits {
		bare[BareName(name)] = head != ""
	}
	code := Code(file, []byte(text))
	var out strings.Builder
	end := 0
	for _, m := range identifiers.FindAllStringIndex(code, -1) {
		before, after := strings.TrimRight(code[:m[0]], " \t\r\n"), strings.TrimLeft(code[m[1]:], " \t\r\n")
		field := strings.HasSuffix(before, ".") || strings.HasSuffix(before, "->")
		if bare[code[m[0]:m[1]]] && (!field || strings.HasPrefix(after, "(")) {
			out.WriteString(text[end:m[1]] + suffix)
			end = m[1]
		}
	}
	return out.String() + text[end:]
}

// MutateFunctions returns the alternatives of mutants for all added or changed functions. A function
// with other parameters also keeps its old text under another name, which restored functions call.
func MutateFunctions(file string, before, after []byte, misfits Uncallable) (all [][]Mutant) {
	for _, f := range Changed(file, before, after) {
		ways := f.Alternatives()
		if ways[0].Kind == Old {
			if m, ok := callingCopies(f, misfits); ok {
				ways[0] = m
			}
		}
		all = append(all, ways)
		if f.ParametersChanged && misfits[f.Name] != "" {
			all = append(all, []Mutant{oldCopy(f, misfits)})
		}
	}
	return all
}
