package mutant

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// IsShell reports whether a file name is that of a shell script.
func IsShell(file string) bool { return source.HasExtension("*.sh *.bash", file) }

// shellFunctions adds a script's functions by their body lines.
func shellFunctions(text string, inside map[int]function) {
	n, name, indent := 0, "", ""
	for line := range strings.Lines(text) {
		n++
		if m := shellHead.FindStringSubmatch(line); m != nil {
			name, indent = m[2], m[1]
			continue
		}
		if name != "" {
			inside[n] = function{name: name}
		}
		if strings.HasPrefix(line, indent+"}") {
			name = ""
		}
	}
}

var shellHead = regex.New(`^([ \t]*)(?:function[ \t]+)?([\w-]+)[ \t]*\([ \t]*\)[ \t]*\{[^}]*$`)

// shellStatement returns a one-line command. It omits commands that decide where others act:
// without them, others may remove something else.
func shellStatement(line string) (from, to int, text string) {
	m := shellCommand.FindStringSubmatchIndex(line)
	if m == nil || shellStays.MatchString(line[m[2]:m[3]]) || shellOpen.MatchString(line) || strings.Count(line, `"`)%2+strings.Count(line, "'")%2 > 0 {
		return 0, 0, ""
	}
	return m[2], m[3], "if false; then " + line[m[2]:m[3]] + "\nfi"
}

var (
	shellCommand = regex.New(`^[ \t]*([A-Za-z_][\w./-]*(?:[ \t]+[^\n]*[^\s])?)[ \t]*\n?$`)
	shellStays   = regex.New(`^(?:if|then|else|elif|fi|for|do|done|while|until|case|esac|in|select|function|time|cd|pushd|popd|mkdir|mktemp|chroot|mount|umount|sudo|kill|set|unset|export|local|readonly|declare|typeset|read|shift|getopts|exit|return|break|continue|trap|exec|eval|source|test|true|false|echo|printf|cat|wait|sleep|umask|command)\b`)
	shellOpen    = regex.New(`<<|(?:[|&{(\\]|\bdo|\bthen|;;)\s*$|^\s*\S+\)|>&2|^\s*\w+=`)
)
