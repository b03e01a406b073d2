package guard

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one argument. If it is static, text is what the shell would pass on;
// otherwise text is the source, in which only the words of rules are looked for.
type word struct {
	text   string
	static bool
}

func (j *judge) words(in []*syntax.Word, src string) []word {
	out := make([]word, 0, len(in))
	for _, w := range in {
		x := j.word(w)
		if !x.static {
			x.text = source(w, src)
		}
		out = append(out, x)
	}
	return out
}

func source(n syntax.Node, src string) string {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start < 0 || end > len(src) || start > end {
		return ""
	}
	return src[start:end]
}

// word resolves what can be: quotes, escapes, $HOME, $PWD and $PAWL_HOME.
func (j *judge) word(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	var b strings.Builder
	static := j.parts(&b, w.Parts, false)
	text := b.String()
	if static && braces(w) {
		static = false
	}
	return word{text: text, static: static}
}

func (j *judge) parts(b *strings.Builder, parts []syntax.WordPart, quoted bool) bool {
	static := true
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			unescape(b, p.Value, quoted)
		case *syntax.SglQuoted:
			static = static && !(p.Dollar && strings.Contains(p.Value, `\`))
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			static = j.parts(b, p.Parts, true) && static
		case *syntax.ParamExp:
			static = j.param(b, p) && static
		default:
			b.WriteByte(' ') // keep the words around it apart
			static = false
		}
	}
	return static
}

// param resolves the variables that name the places a guard must know.
func (j *judge) param(b *strings.Builder, p *syntax.ParamExp) bool {
	plain := p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil && !p.Length && !p.Excl
	switch {
	case plain && p.Param.Value == "HOME" && b.Len() == 0:
		b.WriteByte('~')
		return true
	case plain && p.Param.Value == "PAWL_HOME" && b.Len() == 0 && j.rules.StateDir != "":
		b.WriteString(j.rules.StateDir)
		return true
	case plain && p.Param.Value == "PWD" && b.Len() == 0 && j.cwd != "":
		b.WriteString(j.cwd)
		return true
	}
	b.WriteByte(' ')
	return false
}

// unescape removes a shell's backslashes. Inside double quotes only some
// characters can be escaped.
func unescape(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			next := s[i+1]
			switch {
			case next == '\n':
				i++
				continue
			case !quoted || strings.IndexByte("$`\"\\", next) >= 0:
				i++
			}
		}
		b.WriteByte(s[i])
	}
}

// braces tells whether {a,b} would make several words of this one.
func braces(w *syntax.Word) bool {
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if ok && strings.Contains(l.Value, "{") && (strings.Contains(l.Value, ",") || strings.Contains(l.Value, "..")) && strings.Contains(l.Value, "}") {
			return true
		}
	}
	return false
}

func join(words []word) word {
	out := word{static: true}
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
		out.static = out.static && w.static
	}
	out.text = strings.Join(texts, " ")
	return out
}

// operands are the words that are no options; what follows -- is all operands.
func operands(args []word) []word {
	var out []word
	for i, w := range args {
		if w.static && w.text == "--" {
			return append(out, args[i+1:]...)
		}
		if !w.static || w.text == "-" || !strings.HasPrefix(w.text, "-") {
			out = append(out, w)
		}
	}
	return out
}

// has tells whether a long option (or a prefix of it, as git takes them) or
// one of the short letters is among the options.
func has(args []word, long string, short string) bool {
	for _, w := range args {
		if w.text == "--" {
			return false
		}
		name, _, _ := strings.Cut(w.text, "=")
		switch {
		case strings.HasPrefix(name, "--"):
			if long != "" && len(name) >= 5 && strings.HasPrefix(long, name) {
				return true
			}
		case strings.HasPrefix(name, "-") && short != "" && strings.ContainsAny(name[1:], short):
			return true
		}
	}
	return false
}

// verbs are what a rule is about, as bare words.
var verbs = map[string]bool{
	"push": true, "send-pack": true, "rebase": true, "filter-branch": true, "filter-repo": true, "update-ref": true,
	"--hard": true, "--amend": true,
}

// carriesVerb looks for a rule's words in a command whose name is not known.
func carriesVerb(s string) bool {
	for _, t := range tokens(s) {
		if verbs[t] {
			return true
		}
	}
	return false
}

// carriesGit looks for git, and close behind it a rule's words, in text that is
// not understood. Close, for code pushes many things that are no commits.
func carriesGit(s string) bool {
	const close = 4
	since := close + 1
	for _, t := range tokens(s) {
		switch {
		case strings.TrimLeft(t, "-") == "git":
			since = 0
		case since < close && verbs[t]:
			return true
		}
		since++
	}
	return false
}

func tokens(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
