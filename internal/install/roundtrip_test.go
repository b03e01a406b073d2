package install

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Settings with random white space, comments, commas and hooks obey the law, too.
func TestInstallAndUninstallRestoreRandomSettings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")}
		file := g.pick("", "\ufeff", " // top\n") + g.settings() + g.gap()
		thereAndBack(t, []byte(file), rapid.Bool().Draw(t, "recorded"))
	})
}

// generator generates settings.
type generator struct {
	t       *rapid.T
	newline string
}

func (g generator) pick(from ...string) string { return rapid.SampledFrom(from).Draw(g.t, "pick") }

func (g generator) gap() string {
	gap := g.pick("", "", " ", "\n", "\n  ", "\n\t\t", " /* c */", "/**/ \n ", " // l\n  ", "\n // x */ \n", " \n /* a\n b */ // c \n\n   ")
	return strings.ReplaceAll(gap, "\n", g.newline)
}

// settings returns settings with hooks and an environment, among others.
func (g generator) settings() string {
	var members []string
	for range rapid.IntRange(0, 4).Draw(g.t, "members") {
		name := g.pick("a", "hooks", "h\\u006foks", "env", "model")
		value := g.pick("1.0", `"x"`, "[ ]", "{}")
		switch name {
		case "env":
			value = g.list("{}", rapid.SliceOfN(rapid.SampledFrom([]string{`"A": "1"`, `"` + StopBlockCap + `": "0"`, `"B": 1e400`}), 0, 2).Draw(g.t, "variables"))
		case "hooks", "h\\u006foks":
			value = g.hooks()
		}
		members = append(members, `"`+name+`"`+g.gap()+":"+g.gap()+value)
	}
	return g.list("{}", members)
}

func (g generator) hooks() string {
	var members []string
	for range rapid.IntRange(0, 3).Draw(g.t, "events") {
		var groups []string
		for range rapid.IntRange(0, 3).Draw(g.t, "groups") {
			hooks := rapid.SliceOfN(rapid.SampledFrom([]string{
				`{"type": "command", "command": "make"}`, `{"command": "/x/pawl-hook", "args": ["claude"]}`, `{"command":"pawl hook claude"}`, `1`,
			}), 0, 3).Draw(g.t, "hooks")
			groups = append(groups, `{"hooks":`+g.gap()+g.list("[]", hooks)+`}`)
		}
		members = append(members, `"`+g.pick("Stop", "PreToolUse", "PostToolBatch", "Elicitation")+`":`+g.gap()+g.list("[]", groups))
	}
	return g.list("{}", members)
}

// list returns elements in brackets, with random white space and perhaps a trailing comma.
func (g generator) list(brackets string, things []string) string {
	var b strings.Builder
	b.WriteString(brackets[:1])
	for i, thing := range things {
		if i > 0 {
			b.WriteString("," + g.gap())
		}
		b.WriteString(g.gap() + thing + g.gap())
	}
	if len(things) > 0 {
		b.WriteString(g.pick("", ","))
	}
	return b.String() + g.gap() + brackets[1:]
}
