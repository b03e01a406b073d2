package guard

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Code checks code of a language other than shell. It asks about code that seems to run a command
// of a rule, that names a guarded file, or that writes outside the work tree.
func (j *checker) Code(c *shell.Command, w word) {
	j.touchCode(w.Text)
	switch {
	case j.denyDownloaded(w):
	case runsCommands(shell.CommandName(c.Args[0].Text), w.Text) && (hasGitCommand(w) || hasKillCommand(w)):
		j.ask("code that seems to run a command the loop forbids")
	case j.namesGuardedFile(w.Text):
		j.ask("code that names a guarded file")
	case j.writesOutside(w.Text):
		outside, _ := findRule(RuleOutside)
		j.applyRuleWith(Ask, RuleUnreadable, "code that seems to write outside the work tree", outside.Instead)
	case !w.Static:
		j.noteUnknown(w.Source)
	}
}

// namesGuardedFile reports whether a string literal in code names a guarded file.
func (j *checker) namesGuardedFile(code string) bool {
	before := j.verdict
	defer func() { j.verdict = before }()
	writes := slices.ContainsFunc(writeWords, func(s string) bool { return strings.Contains(code, s) })
	for _, s := range stringLiterals(code) {
		p := j.resolve(s)
		switch {
		case p == "":
		case j.isSecret(p), j.isState(p):
			return true
		case writes && (j.isSettings(p, false) || j.isProtectedFile(p, false) || inGitDir(p, false)):
			return true
		}
	}
	return false
}

// writeWords are parts of code that changes files.
var writeWords = []string{
	"write", "Write", "unlink", "remove", "rmtree", "rename", "copy", "truncate", "'w", `"w`, "'a'", `"a"`, "'r+", `"r+`, "rm(", "rmSync", "symlink", ">",
}

// stringLiterals returns the quoted texts in code that may be file names.
func stringLiterals(code string) []string {
	var out []string
	for _, q := range []string{`'`, `"`, "`"} {
		for i, s := range strings.Split(code, q) {
			if i > 0 && s != "" && len(s) < 256 && !strings.ContainsAny(s, "\n\t()<>*") && len(out) < 256 {
				out = append(out, s)
			}
		}
	}
	return out
}

// runsCommands reports whether code contains words with which its language runs commands. It
// ignores string literals of languages that it can split: Python code that writes "git push" into
// a page pushes nothing.
func runsCommands(language, code string) bool {
	words := "system exec spawn popen subprocess command shell process run ` %x qx |"
	switch {
	case inList("python pypy node nodejs bun deno", language):
		code, words = dropStringLiterals(code), "system exec spawn popen subprocess command shell run child_process $`"
	case inList("perl ruby php awk gawk mawk nawk", language):
		words = "system exec spawn popen passthru proc_open ` %x qx |"
	}
	code = strings.ToLower(code)
	return slices.ContainsFunc(strings.Fields(words), func(s string) bool { return strings.Contains(code, s) })
}

// dropStringLiterals removes string literals from code, except those of one word: they may name a
// function that the code calls.
func dropStringLiterals(code string) string {
	var out strings.Builder
	for code != "" {
		at := strings.IndexAny(code, "'\"`")
		if at < 0 {
			break
		}
		quote, ends := code[at:at+1], "\n"
		if strings.HasPrefix(code[at:], strings.Repeat(quote, 3)) {
			quote = code[at : at+3]
		}
		if len(quote) == 3 || quote == "`" {
			ends = ""
		}
		out.WriteString(code[:at+len(quote)])
		code = code[at+len(quote):]
		end := strings.Index(code, quote)
		if line := strings.Index(code, ends); end < 0 || ends != "" && line >= 0 && line < end {
			continue // an apostrophe in a comment
		}
		if text := code[:end]; !strings.ContainsAny(text, " \t\n") {
			out.WriteString(text)
		}
		out.WriteString(quote)
		code = code[end+len(quote):]
	}
	return out.String() + code
}

// writesOutside reports whether code removes or writes a constant file name outside the work tree:
// shutil.rmtree('../x'), open('/etc/x', 'w').
func (j *checker) writesOutside(code string) bool {
	for at := strings.IndexByte(code, '('); at >= 0; {
		call, rest := code[:at], strings.TrimLeft(code[at+1:], " ")
		name := call[strings.LastIndexFunc(call, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })+1:]
		if rest != "" && strings.ContainsRune("'\"`", rune(rest[0])) {
			file, more, ok := strings.Cut(rest[1:], rest[:1])
			p := j.resolve(file)
			if ok && p != "" && isWriteCall(name, more) && !isDevice(p) && !isWithin(p, cleanPath(j.rules.Root)) && !j.isWritable(p) {
				return true
			}
		}
		code = code[at+1:]
		at = strings.IndexByte(code, '(')
	}
	return false
}

// isWriteCall reports whether a function with this name removes or writes the file that its first
// argument names. The code after that argument is more.
func isWriteCall(name, more string) bool {
	if name == "open" {
		mode := strings.TrimLeft(more, ", mode=")
		return len(mode) > 1 && strings.ContainsRune("'\"", rune(mode[0])) && strings.ContainsRune("wax>", rune(mode[1]))
	}
	return inList("rmtree remove unlink rmdir removedirs rm_rf rmSync rmdirSync unlinkSync writeFile writeFileSync appendFile appendFileSync", name)
}
