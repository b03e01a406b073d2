package frozen

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Of a Makefile the rules judge that a gate's target leads to, and the variables
// that these use. What could change any rule judges in any case: conditions,
// includes, pattern rules, lines that are none of what is known here. The other
// targets are the agent's to add and to change.

func isMakefile(file string) bool {
	switch path.Base(file) {
	case "Makefile", "makefile", "GNUmakefile":
		return true
	}
	return false // what is included judges whole
}

// makePart is a stretch of a Makefile.
type makePart struct {
	text   string
	kind   makeKind
	names  []string // of a rule its targets, of a variable itself
	needs  []string // of a rule: its prerequisites
	judges bool
}

type makeKind int

const (
	makeFree makeKind = iota // blank lines and comments
	makeRule
	makeVariable
	makePhony
	makeAlways
)

var (
	makeAssignment = regexp.MustCompile(`^ *([^\s:#=+?!]+)\s*(?:::?:?|[?+!])?=`)
	makeDirective  = regexp.MustCompile(`^ *(?:-?include|sinclude|ifn?eq|ifn?def|else|endif|export|unexport|override|private|vpath|define|endef|undefine|load)\b`)
	makeUse        = regexp.MustCompile(`\$(?:[({]([^\s(){}:$]+)|([A-Za-z_]))`)
	makeInclude    = regexp.MustCompile(`(?m)^ *(?:-?include|sinclude)\s+(.+)$`)
	makeSelf       = regexp.MustCompile(`\$[({]MAKE[)}]|\bmake\b`)
)

// makeAnyway are variables that every rule uses without naming them.
const makeAnyway = "SHELL .SHELLFLAGS MAKEFLAGS GNUMAKEFLAGS MAKE MAKEFILES PATH VPATH .RECIPEPREFIX .DEFAULT_GOAL"

// readMake divides a Makefile; the texts of the parts are the file.
func readMake(data []byte) []makePart {
	var parts []makePart
	var rule *makePart // that a recipe line belongs to
	define := 0
	for line := range logicalLines(string(data)) {
		p := makePart{text: line}
		plain := strings.TrimSpace(line)
		switch {
		case define > 0 || strings.HasPrefix(plain, "define ") || plain == "define":
			p.kind, rule = makeAlways, nil
			if strings.HasPrefix(plain, "define") {
				define++
			} else if strings.HasPrefix(plain, "endef") {
				define--
			}
		case strings.HasPrefix(line, "\t") && rule != nil:
			p.kind, p.names = rule.kind, rule.names
		case plain == "" || strings.HasPrefix(plain, "#"):
			p.kind = makeFree
		case makeDirective.MatchString(line):
			p.kind = makeAlways // a recipe may go on after it
		case makeAssignment.MatchString(line):
			p.kind, p.names, rule = makeVariable, makeAssignment.FindStringSubmatch(line)[1:2], nil
		default:
			p = readRule(line)
			rule = &p
		}
		parts = append(parts, p)
	}
	return parts
}

// logicalLines are lines with those that a backslash continues.
func logicalLines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		held := ""
		for line := range strings.Lines(text) {
			held += line
			end := strings.TrimRight(line, "\r\n")
			if n := len(end) - len(strings.TrimRight(end, `\`)); n%2 == 1 {
				continue
			}
			if !yield(held) {
				return
			}
			held = ""
		}
		if held != "" {
			yield(held)
		}
	}
}

// readRule reads the line that begins a rule. One whose targets are made while
// make runs, or that stands for many, may be any.
func readRule(line string) makePart {
	p := makePart{text: line, kind: makeAlways}
	before, after, ok := strings.Cut(line, ":")
	if !ok || strings.ContainsAny(before, "$%") {
		return p
	}
	after, _, _ = strings.Cut(strings.TrimLeft(after, ":"), "#")
	after, _, _ = strings.Cut(after, ";")
	p.names, p.needs = strings.Fields(before), strings.FieldsFunc(after, func(r rune) bool { return strings.ContainsRune(" \t\r\n|\\", r) })
	switch {
	case len(p.names) == 0:
	case p.names[0] == ".PHONY":
		p.kind = makePhony
	case !strings.HasPrefix(p.names[0], ".") || strings.Contains(p.names[0], "/"):
		p.kind = makeRule
	}
	return p
}

// judgeMake marks the parts that judge where gates use these words, and returns
// the names of the targets among them.
func judgeMake(parts []makePart, words []string) map[string]bool {
	reached, used := map[string]bool{}, map[string]bool{}
	for name := range strings.FieldsSeq(makeAnyway) {
		used[name] = true
	}
	targets := map[string]bool{}
	first := ""
	for _, p := range parts {
		if p.kind == makeRule {
			for _, name := range p.names {
				targets[name] = true
			}
			if first == "" {
				first = p.names[0]
			}
		}
	}
	for _, w := range words {
		reached[w] = targets[w]
	}
	if !slices.ContainsFunc(words, func(w string) bool { return targets[w] }) {
		reached[first] = true
	}
	for more := true; more; {
		more = false
		for i := range parts {
			if p := &parts[i]; !p.judges && p.counts(reached, used) {
				p.judges, more = true, true
				p.leads(targets, reached, used)
			}
		}
	}
	return reached
}

func (p *makePart) counts(reached, used map[string]bool) bool {
	in := func(set map[string]bool) bool {
		return slices.ContainsFunc(p.names, func(n string) bool { return set[n] })
	}
	switch p.kind {
	case makeRule:
		return in(reached)
	case makeVariable:
		return in(used) || strings.Contains(p.names[0], "$")
	case makeAlways:
		return true
	case makeFree, makePhony:
	}
	return false
}

// leads adds what a part that judges leads to.
func (p *makePart) leads(targets, reached, used map[string]bool) {
	for _, need := range p.needs {
		reached[need] = reached[need] || targets[need]
	}
	for _, m := range makeUse.FindAllStringSubmatch(p.text, -1) {
		used[m[1]+m[2]] = true
	}
	if makeSelf.MatchString(p.text) {
		for _, w := range strings.FieldsFunc(p.text, notInWord) {
			reached[w] = reached[w] || targets[w]
		}
	}
}

// gateRules returns the text of the rules in a Makefile that gates run, and which of
// their targets are phony.
func gateRules(data []byte, words []string) (rules string, phony []string) {
	parts := readMake(data)
	reached := judgeMake(parts, words)
	var text strings.Builder
	for _, p := range parts {
		if p.judges {
			text.WriteString(strings.TrimRight(p.text, " \t\r\n") + "\n")
		}
		if p.kind == makePhony {
			for _, need := range p.needs {
				if reached[need] {
					phony = append(phony, need)
				}
			}
		}
	}
	return text.String(), phony
}

// sameMake compares the rules that gates run in two Makefiles. A target with a recipe that becomes
// phony is made whatever lies there: that takes nothing from the gates. One without
// might have had an implicit rule, which make does not look for if it is phony.
func sameMake(was, now []byte, words []string) bool {
	before, phony := gateRules(was, words)
	after, more := gateRules(now, words)
	if before != after {
		return false
	}
	made := withRecipe(readMake(was))
	return !slices.ContainsFunc(phony, func(name string) bool { return !slices.Contains(more, name) }) &&
		!slices.ContainsFunc(more, func(name string) bool { return !slices.Contains(phony, name) && !made[name] })
}

// withRecipe are the targets whose own rule says how they are made.
func withRecipe(parts []makePart) map[string]bool {
	made := map[string]bool{}
	for _, p := range parts {
		line, _, _ := strings.Cut(p.text, "#")
		if p.kind != makeRule || !strings.HasPrefix(p.text, "\t") && !strings.Contains(line, ";") {
			continue
		}
		for _, name := range p.names {
			made[name] = true
		}
	}
	return made
}

func makePieces(data []byte, words []string) []piece {
	parts := readMake(data)
	judgeMake(parts, words)
	pieces := make([]piece, len(parts))
	for i, p := range parts {
		pieces[i] = piece{text: p.text, judges: p.judges}
	}
	return pieces
}

// recipes are the lines that make would give to the shell for gates that use
// these words.
func recipes(data []byte, words []string) []string {
	var lines []string
	for _, p := range makePieces(data, words) {
		recipe, ok := strings.CutPrefix(p.text, "\t")
		if !ok {
			_, recipe, ok = strings.Cut(p.text, ";")
		}
		if ok && p.judges {
			lines = append(lines, strings.TrimLeft(recipe, "@-+ "))
		}
	}
	return lines
}

// included are the files that a Makefile includes by name.
func included(data []byte) []string {
	var files []string
	for _, m := range makeInclude.FindAllStringSubmatch(string(data), -1) {
		for name := range strings.FieldsSeq(m[1]) {
			if !strings.ContainsAny(name, "$#") {
				files = append(files, name)
			}
		}
	}
	return files
}
