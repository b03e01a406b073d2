package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// rule is a word or phrase that the project no longer uses, and what to write.
type rule struct {
	pattern *regexp.Regexp
	instead string
}

// rules hold for messages, help texts and documents.
func rules() []rule {
	var all []rule
	for _, r := range [][2]string{
		{`\bpawl (grant|deny)\b`, "pawl approve, pawl reject"},
		{`\bstrikes?\b`, "violation"},
		{`\bhand-over\b`, "handover"},
		{`\bset aside\b`, "skipped"},
		{`\bwhat judges\b`, "gate inputs, protected files"},
		{`\brailing\b`, "guard"},
		{`\bthe wall\b`, "sandbox"},
		{`\bmend(s|ed)?\b`, "fix"},
		{`\bnobody drives\b`, "orphaned"},
		{`\b0 is no limit\b`, "0 = unlimited"},
		{`\bmay be given again\b`, "repeatable"},
		{`\bof all kinds together\b`, "total"},
		{`\bthe one page to believe\b`, "summary"},
		{`\bno way was found\b`, "failed after all attempts"},
		{`\bnothing tells\b`, "no test shows"},
		{`\bcounts against no limit\b`, "not counted"},
		{`%[qsv] is no `, "is not a"},
		{`\byour yes\b`, "your approval"},
		{`\b(goes|go|going|went|gone) on\b`, "continue"},
	} {
		all = append(all, rule{regexp.MustCompile(`(?i)` + r[0]), r[1]})
	}
	return all
}

// retiredFiles are names of source files that say nothing to a reader.
func retiredFiles() []string {
	return []string{
		"seat.go", "told.go", "said.go", "meant.go", "elsewhere.go", "around.go", "look.go", "letgo.go", "absent.go", "furnish.go",
		"looked.go", "left.go", "alone.go", "wall.go", "goon.go", "missing.go", "nearest.go", "notfollowed.go", "settle.go", "past.go",
	}
}

// retiredNames are words that no declared name is made of, and what to write.
func retiredNames() map[string]string {
	return map[string]string{
		"hear": "receive", "heard": "received", "ears": "handler", "sit": "wait", "sits": "waits", "sitting": "session",
		"seat": "lease", "rung": "attempt", "patience": "timeout", "settle": "what it does", "settled": "what is done",
		"person": "user", "stranger": "other", "farewell": "end", "goodbye": "close", "wall": "sandbox", "strike": "violation",
		"attended": "in session", "keeper": "daemon",
	}
}

func fileName(file string) []string {
	if slices.Contains(retiredFiles(), path.Base(file)) {
		return []string{file + ": rename it to what a reader would search for"}
	}
	return nil
}

// inText finds retired words in one line of text.
func inText(where, text string) []string {
	var faults []string
	for _, r := range rules() {
		if found := r.pattern.FindString(text); found != "" {
			faults = append(faults, fmt.Sprintf("%s: %q: write %q", where, found, r.instead))
		}
	}
	return faults
}

// inDocument checks each line of a document.
func inDocument(file, text string) []string {
	var faults []string
	for i, line := range strings.Split(text, "\n") {
		faults = append(faults, inText(fmt.Sprintf("%s:%d", file, i+1), line)...)
	}
	return faults
}

// inSource checks the string literals and struct tags of a Go file, which hold its
// messages and help texts, the declared names, and how doc comments begin.
func inSource(file string, source []byte) ([]string, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	var faults []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err == nil {
				faults = append(faults, inText(set.Position(lit.Pos()).String(), text)...)
			}
		}
		return true
	})
	for _, id := range declared(parsed) {
		for _, word := range nameWords(id.Name) {
			if instead, retired := retiredNames()[word]; retired {
				faults = append(faults, fmt.Sprintf("%s: the name %s: write %q for %q", set.Position(id.Pos()), id.Name, instead, word))
			}
		}
	}
	for _, c := range docComments(parsed) {
		first, rest := firstWords(c.text)
		switch {
		case first != c.name && first != "Deprecated:":
			faults = append(faults, fmt.Sprintf("%s: the comment of %s begins with %q", set.Position(c.pos), c.name, first))
		case c.isFunc && vagueVerb(rest) != "":
			faults = append(faults, fmt.Sprintf("%s: the comment of %s says %q: write what it does or returns", set.Position(c.pos), c.name, vagueVerb(rest)))
		}
	}
	return faults, nil
}

// vagueVerb returns the words with which a function's comment leaves open whether the function returns, prints
// or does something; "" if it does not begin so.
func vagueVerb(text string) string {
	for _, verb := range []string{"tells", "judges", "knows", "is what", "are what"} {
		if strings.HasPrefix(text+" ", verb+" ") {
			return verb
		}
	}
	return ""
}

// docComment is the comment of a declaration.
type docComment struct {
	name, text string
	pos        token.Pos
	isFunc     bool
}

// docComments returns the comments of functions and of types, constants and variables that are
// declared alone.
func docComments(f *ast.File) []docComment {
	var all []docComment
	add := func(id *ast.Ident, doc *ast.CommentGroup, isFunc bool) {
		if doc != nil && doc.Text() != "" { // "" has directives only
			all = append(all, docComment{id.Name, doc.Text(), doc.Pos(), isFunc})
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name, d.Doc, true)
		case *ast.GenDecl:
			if d.Lparen.IsValid() {
				continue
			}
			switch spec := d.Specs[0].(type) {
			case *ast.TypeSpec:
				add(spec.Name, d.Doc, false)
			case *ast.ValueSpec:
				add(spec.Names[0], d.Doc, false)
			}
		}
	}
	return all
}

// firstWords returns the first word of a comment that is no article, and the text behind it.
func firstWords(text string) (first, rest string) {
	words := strings.Fields(text)
	for i, w := range words {
		if !slices.Contains([]string{"A", "An", "The"}, w) {
			return strings.TrimSuffix(strings.TrimRight(w, ",.:;"), "'s"), strings.Join(words[i+1:], " ")
		}
	}
	return "", ""
}

// declared returns the names of a file's functions, methods, types, fields, constants and
// variables, those inside functions too.
func declared(f *ast.File) []*ast.Ident {
	var names []*ast.Ident
	ast.Inspect(f, func(n ast.Node) bool {
		switch d := n.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name)
		case *ast.TypeSpec:
			names = append(names, d.Name)
		case *ast.ValueSpec:
			names = append(names, d.Names...)
		case *ast.Field:
			names = append(names, d.Names...)
		}
		return true
	})
	return names
}

// nameWords splits a name such as "maxWaitTime" into its words, in lower case.
func nameWords(name string) []string {
	var words []string
	start := 0
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			words = append(words, strings.ToLower(name[start:i]))
			start = i
		}
	}
	return append(words, strings.ToLower(name[start:]))
}
