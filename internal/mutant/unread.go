package mutant

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Unread are the parameters that a change gave to a function and that it does not look
// at, or no longer: Name is the parameter, Head the function's first line. Left out is what
// others dictate: methods of an interface, functions that are handed on by their name. all
// is the code of the programs and tests that could tell.
func Unread(file string, before, after []byte, all string) []Function {
	if generated(after) {
		return nil
	}
	old := map[string]function{}
	for _, f := range functions(file, before) {
		old[f.name] = f
	}
	var found []Function
	for _, f := range functions(file, after) {
		was, known := old[f.name]
		if known && was.plain == f.plain {
			continue
		}
		body, then := f.said(file), was.said(file)
		written := slices.ContainsFunc(identifiers.FindAllString(was.params, -1), func(name string) bool { return Names(then, name) })
		names := slices.DeleteFunc(f.parameterNames(file), func(name string) bool {
			return Names(body, name) || written && !Names(then, name) && slices.Contains(was.parameterNames(file), name)
		})
		if len(names) > 0 && !f.dictated(all) {
			found = append(found, Function{Path: file, Name: strings.Join(names, ", "), Line: f.line, Head: head(f)})
		}
	}
	return append(found, unreadMacros(file, before, after)...)
}

// unreadMacros are parameters that macros of C ignore.
func unreadMacros(file string, before, after []byte) (found []Function) {
	if !slices.Contains([]string{".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}, path.Ext(file)) {
		return nil
	}
	for _, m := range macro.FindAllSubmatchIndex(after, -1) {
		line, name := string(after[m[0]:m[1]]), string(after[m[2]:m[3]])
		if !Names(string(after[m[4]:m[5]]), name) && !strings.Contains(string(before), line) {
			found = append(found, Function{Path: file, Name: name, Line: 1 + strings.Count(string(after[:m[0]]), "\n"), Head: strings.TrimSpace(line)})
		}
	}
	return found
}

// macro matches one with one parameter: that, and what it stands for.
var macro = regex.New(`(?m)^[ \t]*#[ \t]*define[ \t]+\w+\([ \t]*(\w+)[ \t]*\)[ \t]+(\S[^\n]*)$`)

// said is what stands behind the head of a function, without comments and the insides of
// strings; what stands in braces there may be read, and stays.
func (f function) said(file string) string {
	style := goStyle()
	if l := languageOf(file); l != nil {
		style = l.style
	}
	_, body, _ := strings.Cut(f.text, f.params)
	inStrings := strings.Join(filled.FindAllString(source.Uncommented(body, style), -1), " ")
	return givenAway.ReplaceAllString(source.Bare(body, style).Code, "") + "\n" + inStrings
}

// filled matches what a string is filled in with: {name}, ${name}.
var filled = regex.New(`\{[^{}\n]*\}`)

// givenAway matches statements that name a value so that it seems to be used.
var givenAway = regex.New(`(?m)^\s*(?:(?:let )?_ = [\w, ]+|\(void\)\s*\w+|void \w+|del [\w, ]+);?\s*$|\(void\)\s*\w+;`)

// dictated tells of a function that others decide what it is given: there are several of
// its name, as of an interface, or it is handed on by its name.
func (f function) dictated(all string) bool {
	name := regexp.QuoteMeta(f.name[strings.LastIndexByte(f.name, '.')+1:])
	if strings.Contains(f.name, ".") && len(regex.New(`(?m)^[ \t]*[^\n=;"']*\b`+name+`\([^\n;]*$`).FindAllStringIndex(all, 3)) > 1 {
		return true
	}
	return regex.New(`[(,=:]\s*(?:\w+\.)?` + name + `\s*[,)\n;]`).MatchString(all)
}
