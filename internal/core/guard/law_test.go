package guard_test

import (
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/guard"
)

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// commandRewrites holds rewrites of a whole command that do the same in a shell.
var commandRewrites = map[string]func(string) string{
	"subshell":        func(c string) string { return "( " + c + "\n)" },
	"group":           func(c string) string { return "{ " + c + "\n}" },
	"after a command": func(c string) string { return "true && { " + c + "\n}" },
	"on its own line": func(c string) string { return "true\n\n  " + c + "\n" },
	"branch":          func(c string) string { return "if true; then\n" + c + "\nfi" },
	"loop":            func(c string) string { return "for i in 1; do\n" + c + "\ndone" },
	"function":        func(c string) string { return "fn_() {\n" + c + "\n}\nfn_" },
	"bash -c":         func(c string) string { return "bash -c " + quote(c) },
	"sh -ec, twice":   func(c string) string { return "sh -ec " + quote("sh -c "+quote(c)) },
	"eval":            func(c string) string { return "eval " + quote(c) },
	"variable":        func(c string) string { return "v_=" + quote(c) + "; eval \"$v_\"" },
	"variable, sh":    func(c string) string { return "v_=" + quote(c) + "\nbash -c \"$v_\"" },
	"here-document":   func(c string) string { return "bash <<'EOF_'\n" + c + "\nEOF_" },
	"pipe":            func(c string) string { return "printf '%s\\n' " + quote(c) + " | bash" },
	"file":            func(c string) string { return "cat > t_.sh <<'EOF_'\n" + c + "\nEOF_\nbash t_.sh" },
	"timeout":         func(c string) string { return "timeout 9 bash -c " + quote(c) },
	"env":             func(c string) string { return "env A=b bash -c " + quote(c) },
	"xargs":           func(c string) string { return "echo | xargs sh -c " + quote(c) },
}

// wordRewrites holds rewrites of the words of a plain command.
var wordRewrites = map[string]func([]string) string{
	"spaces":        func(w []string) string { return "  " + strings.Join(w, " \t ") + " ;" },
	"single quotes": func(w []string) string { return "'" + strings.Join(w, "' '") + "'" },
	"double quotes": func(w []string) string { return `"` + strings.Join(w, `" "`) + `"` },
	"ANSI-C quotes": func(w []string) string { return "$'" + strings.Join(w, "' $'") + "'" },
	"half quoted": func(w []string) string {
		return mapWords(w, func(s string) string { return s[:1] + "''" + `"` + s[1:] + `"` })
	},
	"backslashes":    func(w []string) string { return mapWords(w, func(s string) string { return `\` + s }) },
	"lines":          func(w []string) string { return strings.Join(w, " \\\n") },
	"broken words":   func(w []string) string { return mapWords(w, func(s string) string { return s[:1] + "\\\n" + s[1:] }) },
	"hexadecimal":    func(w []string) string { return mapWords(w, hexEscape) },
	"default values": func(w []string) string { return mapWords(w, func(s string) string { return "${U_:-" + s + "}" }) },
	"substitutions":  func(w []string) string { return mapWords(w, func(s string) string { return "$(printf %s " + s + ")" }) },
	"array":          func(w []string) string { return "a_=(" + strings.Join(w, " ") + `); "${a_[@]}"` },
	"parameters":     func(w []string) string { return "set -- " + strings.Join(w, " ") + `; "$@"` },
	"split variable": func(w []string) string { return "a_='" + strings.Join(w, " ") + "'; $a_" },
	"braces":         func(w []string) string { return "{" + strings.Join(w, ",") + "}" },
	"command":        func(w []string) string { return "command " + strings.Join(w, " ") },
	"env":            func(w []string) string { return "env " + strings.Join(w, " ") },
	"path":           func(w []string) string { return "/usr/bin/" + strings.Join(w, " ") },
	"variables": func(w []string) string {
		set, use := "", ""
		for i, s := range w {
			name := "v" + string(rune('a'+i))
			set, use = set+name+"="+s+"; ", use+"$"+name+" "
		}
		return set + use
	},
}

func mapWords(words []string, f func(string) string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = f(w)
	}
	return strings.Join(out, " ")
}

func hexEscape(s string) string {
	const digits = "0123456789abcdef"
	return `$'\x` + string([]byte{digits[s[0]>>4], digits[s[0]&15]}) + "'" + s[1:]
}

// plainCommand matches commands that consist of words only. Builtins are excluded: their names must come
// first.
var plainCommand = regexp.MustCompile(`^(git|npm|pnpm|yarn|cargo|gh|docker|rm|mv|cp|touch|tee|pkill|killall|kill|cat|head|base64|gem|helm|pawl|ls|grep|make|go|mkdir|sed|tar|diff|chmod)( [A-Za-z0-9./_@:+%-]+)*$`)

// Rewriting a command so that a shell does the same changes no decision.
func TestEquivalentCommandsGetSameDecision(t *testing.T) {
	t.Parallel()
	n := 0
	check := func(name, want, command, rewritten string) {
		n++
		got := checkCommand(rewritten)
		if string(got.Decision) != want {
			t.Errorf("%s of %q (%s) is %s (%s %s):\n%s", name, command, want, got.Decision, got.Rule, got.Reason, rewritten)
		}
	}
	for _, row := range commandTable(t) {
		want, _, _ := strings.Cut(row[0], " ")
		command := row[1]
		if want == "ask" || !isValidShell(command) {
			continue
		}
		for name, f := range commandRewrites {
			check(name, want, command, f(command))
		}
		if !plainCommand.MatchString(command) {
			continue
		}
		for name, f := range wordRewrites {
			check(name, want, command, f(strings.Fields(command)))
		}
	}
	if n < 10_000 {
		t.Errorf("only %d rewrites", n)
	}
}

func isValidShell(s string) bool {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), "")
	return err == nil
}

var strictness = map[guard.Decision]int{guard.Allow: 0, guard.Ask: 1, guard.Deny: 2}

// A script of two commands is at least as strict as each of them.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"git push", "bash -c 'git push'", "rm -rf ..", "cat <<E\n$(git push)\nE", "a=${b:-c}; $a push", "echo {a,b} > /x", "f() { $1; }; f x"} {
		f.Add("ls", s)
		f.Add(s, "x=1")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		va, vb := checkCommand(a), checkCommand(b)
		for _, v := range []guard.Verdict{va, vb} {
			if (v.Decision == guard.Allow) != (v.Rule == "" && v.Reason == "") || v.Decision != guard.Allow && v.Unknown != "" {
				t.Errorf("verdict %+v", v)
			}
		}
		if v := checkCommand("git push\n" + b); v.Decision == guard.Allow {
			t.Errorf("a push was hidden by what follows it: %q", b)
		}
		if !isValidShell(a) || !isValidShell(b) || strings.Contains(a+b, "<<") || len(a)+len(b) > 1000 {
			return // one could close what the other opens
		}
		both := "( " + a + "\n)\n" + b
		if !isValidShell(both) {
			return
		}
		v := checkCommand(both)
		if strictness[v.Decision] < max(strictness[va.Decision], strictness[vb.Decision]) {
			t.Errorf("%q is %s and %q is %s, but both are %s", a, va.Decision, b, vb.Decision, v.Decision)
		}
	})
}
