package testdiff

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// imports is an adapted text with what it needs of the imports as they are now: a name never stands
// for what it did not.
func (a *adaptation) imports(old, now testText, text string) string {
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
		if binds := old.binds(line); !intersect(binds, used) && (old.isGo() || intersect(Words(line), a.Gone) || intersect(binds, a.said)) {
			text = strings.Replace(text, line, "", 1)
		}
	}
	return old.withImports(text, slices.Concat(was, kept), more)
}

// importsSame reports whether an import is another as the work may have changed it. A name that it had comes
// from elsewhere only if it is not where it was.
func (a *adaptation) importsSame(old testText, was, is string) bool {
	had, binds, shared, elsewhere := Words(was), old.binds(is), false, false
	for name := range Words(is) {
		switch {
		case had[name]:
			shared = shared || !importWord.MatchString(name)
		case !a.Came[name] && !a.said[name] && a.images[name] == "" || name == "as":
			return false
		default:
			elsewhere = elsewhere || !binds[name]
		}
	}
	if elsewhere {
		for name := range binds {
			if had[name] && !a.Left[name] {
				return false
			}
		}
	}
	return shared
}

// mayImport reports whether an import that came may be there: of something that the adapted text has, under
// a name that stood for nothing, and nothing of the program but what the task names.
func (a *adaptation) mayImport(old testText, line string, used map[string]bool) bool {
	binds := old.binds(line)
	if !intersect(binds, used) || intersect(binds, a.known) {
		return false
	}
	for name := range Words(line) {
		if !a.said[name] && a.StandsIn(name) || a.Declares(name) && binds[name] && !a.mentions(name) {
			return false
		}
	}
	return true
}

func intersect(a, b map[string]bool) bool {
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

// imported are the imports of a file: in Go, what each imports.
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

// binds are the names that an import gives to what it imports.
func (t testText) binds(line string) map[string]bool {
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

// withImports is a text with more imports behind the last that it has.
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
