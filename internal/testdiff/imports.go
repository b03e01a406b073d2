package testdiff

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// imports returns an adapted text with the current imports that it needs. No name changes its
// meaning.
func (a *adaptation) imports(old, now testText, text string) string {
	text = a.packageClause(old, now, text)
	was, is := old.imported(), now.imported()
	body := text
	for _, line := range was {
		body = strings.Replace(body, line, "", 1)
	}
	used := Words(body)
	var more, kept []string
	gone := slices.DeleteFunc(slices.Clone(was), func(line string) bool { return slices.Contains(is, line) })
	for _, line := range is {
		if slices.Contains(was, line) {
			continue
		}
		if i := slices.IndexFunc(gone, func(w string) bool { return a.importsSame(old, w, line) }); i >= 0 {
			text = strings.Replace(text, gone[i], line, 1)
			gone, kept = slices.Delete(gone, i, i+1), append(kept, line)
		} else if a.mayImport(old, line, used) {
			more = append(more, line)
		}
	}
	for _, line := range gone {
		if binds := old.boundNames(line); !overlaps(binds, used) && (old.isGo() || overlaps(Words(line), a.RemovedNames) || overlaps(binds, a.taskWords)) {
			text = strings.Replace(text, line, "", 1)
		}
	}
	return old.withImports(text, slices.Concat(was, kept), more)
}

// packageClause returns a text with the current package clause, if the old package is gone and the
// task gives the new name.
func (a *adaptation) packageClause(old, now testText, text string) string {
	was, is := goPackage.FindString(text), goPackage.FindString(now.plain)
	if !old.isGo() || was == is {
		return text
	}
	name := func(clause string) string { return strings.TrimSuffix(strings.Fields(clause + " _ _")[1], "_test") }
	moved := path.Dir(old.Path) != path.Dir(now.Path) && a.AddedNames[name(is)] && a.taskWords[name(is)]
	if strings.HasSuffix(was, "_test") != strings.HasSuffix(is, "_test") || !moved && (!a.VanishedNames[name(was)] || !a.mayStandFor(name(was), name(is))) {
		return text
	}
	return strings.Replace(text, was, is, 1)
}

// importsSame reports whether the work may have changed an import. A name may come from elsewhere
// only if its old source is gone.
func (a *adaptation) importsSame(old testText, was, is string) bool {
	had, binds, shared, elsewhere := Words(was), old.boundNames(is), false, false
	for name := range Words(is) {
		switch {
		case had[name]:
			shared = shared || !importWord.MatchString(name)
		case !a.AddedNames[name] && !a.taskWords[name] && a.images[name] == "" || name == "as":
			return false
		default:
			elsewhere = elsewhere || !binds[name]
		}
	}
	if elsewhere {
		for name := range binds {
			if had[name] && !a.VanishedNames[name] {
				return false
			}
		}
	}
	return shared
}

// mayImport reports whether an added import is allowed: the adapted text uses it, its name was
// free, and the task mentions what it imports from the program.
func (a *adaptation) mayImport(old testText, line string, used map[string]bool) bool {
	binds := old.boundNames(line)
	if !overlaps(binds, used) {
		return false
	}
	for name := range binds {
		if a.known[name] && !a.VanishedNames[name] {
			return false
		}
	}
	for name := range Words(line) {
		if a.VanishedNames[name] && binds[name] && a.taskWords[name] {
			continue
		}
		if !a.taskWords[name] && a.MayShadow(name) || a.Declares(name) && binds[name] && !a.mentions(name) {
			return false
		}
	}
	return true
}

func overlaps(a, b map[string]bool) bool {
	for name := range a {
		if b[name] {
			return true
		}
	}
	return false
}

var (
	importWord = regex.New(`^(?:import|from|as|use|using|include|require|require_relative|package|extern|mod|const|let|var|await|type|static|default|crate|js|ts)$`)
	inQuotes   = regex.New("\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`")
	goPackage  = regex.New(`(?m)^package \w+.*$`)
)

func (t testText) isGo() bool { return path.Ext(t.Path) == ".go" }

// imported returns the imports of a file: in Go, what each imports.
func (t testText) imported() (lines []string) {
	for _, s := range t.uses {
		text := strings.TrimSpace(s.text)
		if !t.isGo() {
			lines = append(lines, text)
			continue
		}
		if strings.HasPrefix(text, "package ") {
			continue
		}
		for line := range strings.Lines(strings.Trim(strings.TrimPrefix(text, "import"), " ()")) {
			if line = strings.TrimSpace(line); line != "" && line != "(" && line != ")" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// importList matches an import of several names from one place: the names are group 2.
var importList = regex.New(`^((?s:.*?)\{|(?:from\s+\S+\s+)?import\b\s*\(?)([^(){}'"]*)(\)?|\}(?s:.*))$`)

// eachImported returns the imports with one name in each: a name more in a list is an import more.
func eachImported(lines []string) (all []string) {
	for _, line := range lines {
		m := importList.FindStringSubmatch(line)
		if m == nil {
			all = append(all, line)
			continue
		}
		for name := range strings.SplitSeq(m[2], ",") {
			if name = strings.TrimSpace(name); name != "" {
				all = append(all, strings.Join(strings.Fields(strings.Trim(m[1], "( ")+" "+name+" "+strings.Trim(m[3], ")")), " "))
			}
		}
	}
	return all
}

// boundNames returns the names that an import declares.
func (t testText) boundNames(line string) map[string]bool {
	if t.isGo() {
		alias, quoted, _ := strings.Cut(line, `"`)
		return Words(alias + path.Base(strings.Trim(quoted, `"`)))
	}
	text := inQuotes.ReplaceAllString(line, "")
	if strings.HasPrefix(text, "from ") {
		_, text, _ = strings.Cut(text, "import")
	}
	if i := strings.LastIndexAny(text, ".:"); i >= 0 && !strings.Contains(text, "{") {
		text = text[i:]
	}
	names := Words(text)
	maps.DeleteFunc(names, func(name string, _ bool) bool { return importWord.MatchString(name) })
	return names
}

// withImports adds imports after the last one of a text.
func (t testText) withImports(text string, has, more []string) string {
	if len(more) == 0 {
		return text
	}
	if t.isGo() {
		at := goPackage.FindStringIndex(text)
		if at == nil {
			return text
		}
		return text[:at[1]] + "\n\nimport " + strings.Join(more, "\nimport ") + text[at[1]:]
	}
	end := 0
	for _, line := range has {
		if i := strings.Index(text, line); i >= 0 {
			end = max(end, i+len(line))
		}
	}
	if end == 0 {
		return strings.Join(more, "\n") + "\n" + text
	}
	return text[:end] + "\n" + strings.Join(more, "\n") + text[end:]
}
