package mutant

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Branch is one condition or statement that a change added to a function, and what leaves
// it out.
type Branch struct {
	Line      int
	Text      string // the line
	Within    string // the function; of a shell script none
	Condition bool   // else a statement
	Whole     bool   // all of a condition, not its last operand
	Blind     bool   // a condition that looks at nothing that its function is given
	Mutant    Mutant
}

// Branches are those of a file, first the conditions, for which the mutant is that they
// never hold; a blind one has another, that it always does. Left out are those that hand an error on, and what tells, locks or closes:
// tests seldom ask for these.
func Branches(file string, before, after []byte) []Branch {
	shell := isShell(file)
	if !Knows(file) && !shell {
		return nil
	}
	known := map[string]int{}
	for line := range strings.Lines(string(before)) {
		known[strings.TrimSpace(line)]++
	}
	changed := Changed(file, before, after)
	inside := map[int]function{} // of a shell script all is
	for _, f := range functions(file, after) {
		if !slices.ContainsFunc(changed, func(c Function) bool { return c.Name == f.name }) {
			continue
		}
		for n := f.line + 1; n < f.line+1+strings.Count(f.text, "\n"); n++ {
			inside[n] = f
		}
	}
	code, at, n := Code(file, after), 0, 0
	var conditions, statements []Branch
	for line := range strings.Lines(code) {
		text := string(after[at : at+len(line)])
		plain := strings.TrimSpace(text)
		n++
		f, in := inside[n]
		if known[plain]--; known[plain] < 0 && (in || shell) && !seldomTested.MatchString(plain) {
			branch := func(from, to int, does, text string) Branch {
				return Branch{Line: n, Text: plain, Within: f.name, Condition: true, Mutant: Mutant{Other, does, at + from, at + to, text}}
			}
			if from, to := lastOperand(line); to > from {
				conditions = append(conditions, branch(from, to, "does not ask for its last condition", ""))
			}
			from, to := condition(file, line)
			choice := to <= from
			if choice {
				from, to = chooses(file, line)
			}
			blind := in && to > from && f.isBlind(file, code, line[from:to])
			if to > from && (blind || !choice) {
				b := branch(from, to, "never holds", never(file, text[from:to]))
				b.Whole, b.Blind = true, blind
				if conditions = append(conditions, b); blind {
					b.Mutant.Does, b.Mutant.text = "always holds", always(file, text[from:to])
					conditions = append(conditions, b)
				}
			} else if from, to := removable(file, line); to > from && !shell {
				b := branch(from, to, "is left out", leftOut(file, text[from:to]))
				b.Condition = false
				statements = append(statements, b)
			}
		}
		at += len(line)
	}
	return slices.Concat(conditions, statements)
}

func isShell(file string) bool { return slices.Contains([]string{".sh", ".bash"}, path.Ext(file)) }

// seldomTested matches lines that are not asked about.
var seldomTested = regex.New(`(?i)\berr(?:or)?\b.*(?:!=|==|!==) *(?:nil|null)|\bif \(?(?:err|error)\)?|__name__|\b\w*(?:log|print|puts|console|debug|warn|trace)\w*[.(!]|\$#|\b\w*(?:lock|close|flush|free|cancel|dispose|super)\w*\(`)

// condition is where one stands that is all in its line; nothing where none is.
func condition(file, line string) (from, to int) {
	re, parens := ifOf.braces, false
	switch path.Ext(file) {
	case ".py":
		re = ifOf.indented
	case ".sh", ".bash":
		re = ifOf.then
	case ".go", ".rs":
	default:
		re, parens = ifOf.parens, true
	}
	m := re.FindStringSubmatchIndex(line)
	if m == nil {
		return 0, 0
	}
	if parens {
		return m[1], source.Source{Text: line, Code: line}.Parens(m[1]-1) - 1
	}
	from, to = m[2], m[3]
	return from + strings.LastIndexByte(line[from:to], ';') + 1, to
}

// lastOperand is where the last of several conditions that a line returns or asks for
// stands, with the operator before it.
func lastOperand(line string) (from, to int) {
	m := operandLine.FindStringSubmatchIndex(line)
	if m == nil || strings.Count(line[m[2]:m[3]], "(") != strings.Count(line[m[2]:m[3]], ")") {
		return 0, 0
	}
	return m[2], m[3]
}

var operandLine = regex.New(`^\s*(?:return\b|(?:const|let|var)?\s*\w+\s*:?=[^=]|\w+ && ).*?\S(\s+(?:&&|and)\s[^&|]+?);?\s*$`)

type ifs struct{ braces, indented, parens, then *regex.Regex }

var ifOf = ifs{
	regex.New(`^\s*(?:\} else )?if ((?:[^l{]|l[^e]|le[^t])[^{]*) \{\s*$`),
	regex.New(`^\s*(?:el)?if (.+):\s*$`),
	regex.New(`^\s*(?:\} else )?if \(`),
	regex.New(`^\s*(?:el)?if (.+?); *then\s*$`),
}

func never(file, condition string) string {
	switch path.Ext(file) {
	case ".py":
		return "False and (" + condition + ")"
	case ".sh", ".bash":
		return "false && { " + condition + "; }"
	case ".c", ".cc", ".cpp", ".cxx":
		return "0 && (" + condition + ")"
	}
	return " false && (" + condition + ")"
}

// chooses is where the condition of an expression stands that has one of two values.
func chooses(file, line string) (from, to int) {
	if path.Ext(file) == ".py" {
		if m := chosenBehind.FindStringSubmatchIndex(line); m != nil {
			return m[2], m[3]
		}
		return 0, 0
	}
	to, depth := strings.Index(line, " ? "), 0
	for from = to; from > 0; from-- {
		switch c := line[from-1]; {
		case strings.IndexByte(")]}", c) >= 0:
			depth++
		case strings.IndexByte("([{", c) >= 0:
			depth--
		}
		if before := line[:from]; depth < 0 || depth == 0 && beginsChoice.MatchString(before) {
			break
		}
	}
	if to < 0 || !strings.Contains(line[to:], " : ") {
		return 0, 0
	}
	return from, to
}

var (
	chosenBehind = regex.New(`\S if (.+?) else `)
	beginsChoice = regex.New(`(?:\breturn |[^=!<>]= |=> |, |; ?|\? |: )$`)
)

func always(file, condition string) string {
	switch path.Ext(file) {
	case ".py":
		return "True or (" + condition + ")"
	case ".c", ".cc", ".cpp", ".cxx":
		return "1 || (" + condition + ")"
	}
	return " true || (" + condition + ")"
}

// removable is where a statement stands that is all in its line and can be left out: it changes
// something, or calls something.
func removable(file, line string) (from, to int) {
	m := statementLine.FindStringSubmatchIndex(line)
	whole := func(open, end string) bool { return strings.Count(line, open) == strings.Count(line, end) }
	closed := m != nil && (m[5] > m[4] || !slices.Contains([]string{".rs", ".c", ".cc", ".cpp", ".cxx", ".java"}, path.Ext(file)))
	if !closed || !whole("(", ")") || !whole("{", "}") || !whole("[", "]") {
		return 0, 0
	}
	return m[2], m[5]
}

var statementLine = regex.New(`^\s*((?:await )?\*?[\w$]+(?:(?:\.|->|::)[\w$]+|\[[^\]]*\])*(?:\s*(?:[-+*/|&^%]|<<|>>|\|\||\?\?)?=[^=>].*?|\+\+|--|\(.*\)))(;?)\s*$`)

func leftOut(file, statement string) string {
	switch path.Ext(file) {
	case ".py":
		return "if False: " + statement
	case ".go", ".rs":
		return "if false { " + statement + " }"
	case ".c", ".cc", ".cpp", ".cxx":
		return "if (0) { " + statement + " }"
	}
	return "if (false) { " + statement + " }"
}
