package mutant

import (
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// syntax is how a language writes conditions and statements. In the formats, %s is what stands there.
type syntax struct {
	names      string
	condition  *regex.Regex // of a line; its group is the condition, which is in parentheses where there is none
	never      string       // a condition that does not hold
	always     string       // one that holds
	without    string       // a statement that does not run
	semicolons bool         // each statement ends with one
	arm        *regex.Regex // of a match, up to where a guard fits; nil = there is none
	unchosen   string       // a guard that lets nothing pass
}

const clang = "*.c *.cc *.cpp *.cxx *.h *.hh *.hpp *.hxx *.inl *.ipp"

// syntaxes are those of the known languages. The last one is that of all others.
var syntaxes = sync.OnceValue(func() []syntax {
	braces := regex.New(`^\s*(?:\} else )?if ((?:[^l{]|l[^e]|le[^t])[^{]*) \{\s*$`)
	parens := regex.New(`^\s*(?:\} else )?if \(`)
	const never, always = " false && (%s)", " true || (%s)"
	return []syntax{
		{"*.py", regex.New(`^\s*(?:el)?if (.+):\s*$`), "False and (%s)", "True or (%s)", "if False: %s", false, regex.New(`^\s*case (.+?):`), " if False"},
		{"*.sh *.bash", regex.New(`^\s*(?:el)?if (.+?); *then\s*$`), "false && { %s; }", "", "", false, nil, ""},
		{"*.go", braces, never, always, "if false { %s }", false, nil, ""},
		{"*.rs", braces, never, always, "if false { %s }", true, regex.New(`^\s*([^=;]*[^=;\s])\s*=> `), " if false"},
		{clang, parens, "0 && (%s)", "1 || (%s)", "if (0) { %s }", true, nil, ""},
		{"*.java", parens, never, always, "if (false) { %s }", true, nil, ""},
		{"", parens, never, always, "if (false) { %s }", false, nil, ""},
	}
})

// syntaxOf returns the syntax of a file's language.
func syntaxOf(file string) (s syntax) {
	for _, s = range syntaxes() {
		if source.HasExtension(s.names, file) {
			break
		}
	}
	return s
}
