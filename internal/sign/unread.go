package sign

import (
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// UnreadValues returns the added lines that set a field or variable which nothing reads. all is
// the text of the programs and tests that could read it.
func (c *Change) UnreadValues(all string) []Sign {
	v := c.view()
	seen := map[string]bool{}
	var found []Sign
	for n, line := range v.uncommented {
		if !v.added[n] {
			continue
		}
		for _, w := range writers {
			if !source.HasExtension(w.names, c.view().programName) {
				continue
			}
			m := w.re.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			name := strings.TrimSpace(m[1])
			if len(name) < 2 || seen[name] || ofMachine.MatchString(name) || notVariable.MatchString(name) || v.isReadAsWhole(n, name) {
				continue
			}
			here := strings.Index(all, line)
			if here < 0 {
				here = len(all)
			}
			if !w.isRead(all[:here], name) && !w.isRead(all[min(len(all), here+len(line)):], name) && !w.isRead(string(c.Before), name) {
				found = append(found, v.sign(n, Unread, "keeps "+name+", which nothing reads"))
			}
			seen[name] = true
			break
		}
	}
	return found
}

// writer matches assignments and declarations in one language.
type writer struct {
	names string
	re    *regex.Regex // its first group is the name
	reads *regex.Regex // matches the text before the name where it is read
}

var writers = [...]writer{
	{golang, regex.New("^\t([a-z]\\w*)(?:, \\w+)* +(?:\\*|\\[\\]|map\\[|chan |func\\()?[\\w.]+[^`=:]*$"), beforeMember},
	{python, regex.New(`\bself\.(\w+)\s*(?::[^=]+)?=[^=]`), beforeMember},
	{python, regex.New(`^(\s+[a-z_]\w*|_\w+|[A-Z][A-Z0-9_]+)\s*(?::[^=]+)?=[^=]`), beforeName},
	{script, regex.New(`\bthis\.(#?[\w$]+)\s*=[^=]`), beforeScriptMember},
	{script, regex.New(`^\s*(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=[^=]`), beforeName},
	{jvm + " " + dotnet, regex.New(`^\s*private\s+(?:(?:static|final|volatile|readonly)\s+)*[\w.<>\[\], ]+\s(\w+)\s*(?:=[^=]|;)`), beforeName},
	{clang, regex.New(`^\s*static\s+(?:const\s+)?(?:unsigned\s+|struct\s+)?\w+[\s*]+(\w+)\s*(?:\[\w*\])?\s*(?:=[^=]|;)`), beforeName},
	{shell, regex.New(`^\s*(?:local\s+|readonly\s+)?(\w+)=(?:[^\s"'$(]*|"[^"]*"|'[^']*'|\$\(.*\)|\$\w+)\s*$`), beforeName},
}

// notVariable matches keywords, and names that the language itself reads.
var notVariable = regex.New(`^(?:return|go|defer|case|goto|var|const|type|package|import|func|else|break|continue|default|if|for|switch|select|_+|__\w+__|IFS|OPTIND|OPTARG|PS\d|serialVersionUID|self|prototype|exports)$`)

// isRead reports whether a text reads a name, that is, uses it other than to set it. A member
// is read through its object, or by its name in a string.
func (w writer) isRead(all, name string) bool {
	var reads *regex.Regex // in a shell: of a line in which the name stands
	if w.names == shell {
		q := regexp.QuoteMeta(name)
		reads = regex.New(`\$\{?[#!]?` + q + `\b|\b(?:export|unset|eval|declare|read|getopts|printf)\b.*\b` + q + `\b|\(\(.*\b` + q + `\b`)
	}
	for at := 0; ; at += len(name) {
		next := strings.Index(all[at:], name)
		if next < 0 {
			return false
		}
		at += next
		before, rest := all[strings.LastIndexByte(all[:at], '\n')+1:at], all[at+len(name):]
		rest = rest[:source.LineEnd(rest)]
		switch {
		case reads != nil:
			if reads.MatchString(before + name + rest) {
				return true
			}
		case w.reads.MatchString(before) && !assignment.MatchString(rest):
			return true
		}
	}
}

var (
	beforeScriptMember = regex.New(`(?:\.|["'\x60]|\{(?:[^}\n]*,)? *)$`)
	beforeMember       = regex.New(`(?:\.|->|["'\x60])$`)
	beforeName         = regex.New(`(?:^|[^\w$])$`)
)

// WithoutComments returns a program without comments and import statements.
func WithoutComments(file string, content []byte) string {
	if !IsProgram(file) {
		return string(content)
	}
	return importStatement.ReplaceAllString(source.UncommentedFile(file, string(content)), "")
}

var importStatement = regex.New(`(?m)^\s*(?:from\s+[\w.]+\s+)?import\s+(?:\([^)]*\)|[^\n(]*)$`)

// assignment matches the text after a name that is set or declared.
var assignment = regex.New(`^[\w$]|^\s*(?::\s*[\w\[\]., |]+\s)?(?:=[^=>]|[-+*/|&]=|\+\+|--|\[\w*\]\s*=)`)

// isReadAsWhole reports whether the type that has this member is read as a whole or by a base
// type: a Python class with a base class, a Go type that is a map key or is encoded.
func (v *view) isReadAsWhole(n int, name string) bool {
	in := source.Indent(v.uncommented[n])
	for i := n - 1; i >= 0; i-- {
		line := v.uncommented[i]
		if strings.TrimSpace(line) == "" || source.Indent(line) >= in {
			continue
		}
		switch {
		case source.HasExtension(python, v.programName):
			in = source.Indent(line)
			if strings.HasPrefix(strings.TrimSpace(line), "class ") {
				return !strings.Contains(v.uncommented[n], "self."+name) || strings.Contains(line, "(")
			}
		case source.HasExtension(golang, v.programName):
			m := goStruct.FindStringSubmatch(line)
			return m == nil || regex.New(`\bmap\[`+m[1]+`\]|json|yaml|gob|%\+?v`).MatchString(v.allCode)
		default:
			return false
		}
		if in == 0 {
			return false
		}
	}
	return false
}

var goStruct = regex.New(`^type (\w+)(?:\[[^\]]*\])? struct`)
