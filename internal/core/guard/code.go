package guard

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Code judges code of another language. It is searched for words of the rules
// where it seems to run commands, for the names of guarded files, and for files
// elsewhere that it writes.
func (j *checker) Code(c *shell.Command, w word) {
	j.touchCode(w.Text)
	switch {
	case j.denyDownloaded(w):
	case runsCommands(shell.Name(c.Args[0].Text), w.Text) && (hasGitCommand(w) || hasKillCommand(w)):
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

// namesGuarded looks for guarded files among the quoted texts in code.
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

// writing are words of code that changes files.
var writeWords = []string{
	"write", "Write", "unlink", "remove", "rmtree", "rename", "copy", "truncate", "'w", `"w`, "'a'", `"a"`, "'r+", `"r+`, "rm(", "rmSync", "symlink", ">",
}

// quoted are the texts between quotes, as far as they could be names of files.
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

// runsCommands reports whether code has the words with which its language runs commands.
// What a text of it says is no such word: who edits a page about git push in Python
// pushes nothing.
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

// unquoted is code without its texts, but for those of one word, which may be names
// of what it calls.
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
			continue // no text, but an apostrophe in a remark
		}
		if text := code[:end]; !strings.ContainsAny(text, " \t\n") {
			out.WriteString(text)
		}
		out.WriteString(quote)
		code = code[end+len(quote):]
	}
	return out.String() + code
}

// writesOutside looks for a call that removes or writes a file that it names by a
// constant: shutil.rmtree('../x'), open('/etc/x', 'w').
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

// removes reports whether a function of that name, with what follows its first
// argument, removes or writes what this names.
func isWriteCall(name, more string) bool {
	if name == "open" {
		mode := strings.TrimLeft(more, ", mode=")
		return len(mode) > 1 && strings.ContainsRune("'\"", rune(mode[0])) && strings.ContainsRune("wax>", rune(mode[1]))
	}
	return inList("rmtree remove unlink rmdir removedirs rm_rf rmSync rmdirSync unlinkSync writeFile writeFileSync appendFile appendFileSync", name)
}
