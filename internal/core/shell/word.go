package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// builder builds the words that one word of the source expands to.
type builder struct {
	words      []Word
	current    Word
	text       []byte
	hasWord    bool   // a word has begun; it may be empty
	separators string // characters besides blanks that separate words ($IFS)
}

// addText adds text to the current word.
func (b *builder) addText(s string) {
	b.hasWord = true
	if len(b.text)+len(s) > maxWordBytes {
		b.current.Static = false
		return
	}
	b.text = append(b.text, s...)
}

// endWord ends the current word, if one has begun.
func (b *builder) endWord() {
	if b.hasWord {
		b.current.Text = string(b.text)
		b.words = append(b.words, b.current)
	}
	b.current, b.text, b.hasWord = Word{Static: true, Source: b.current.Source}, b.text[:0], false
}

// addExpansion adds the result of an expansion. Without quotes it is split into words at
// separators.
func (b *builder) addExpansion(w Word, quoted bool) {
	mark := func() {
		b.current.Static = b.current.Static && w.Static
		b.current.From = union(b.current.From, w.From)
	}
	if quoted {
		b.addText(w.Text)
		mark()
		return
	}
	between := " \t\n" + b.separators
	if w.Text != "" && strings.IndexByte(between, w.Text[0]) >= 0 {
		b.endWord()
	}
	for i, field := range strings.FieldsFunc(w.Text, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		if i > 0 {
			b.endWord()
		}
		b.addText(field)
		b.current.Glob = b.current.Glob || strings.ContainsAny(field, "*?[")
		mark()
	}
	if n := len(w.Text); n > 0 && strings.IndexByte(between, w.Text[n-1]) >= 0 {
		b.endWord()
	}
}

// expandFields expands a word to the arguments that a command receives.
func (r *reader) expandFields(w *syntax.Word) []Word {
	if w == nil {
		return nil
	}
	if s := w.Lit(); s != "" && !strings.ContainsAny(s, "\\*?[{"+Unknown) {
		return []Word{literal(s)}
	}
	source := r.sourceOf(w)
	syntax.SplitBraces(w)
	variants, ok := expandBraces(w.Parts)
	if !ok {
		return []Word{{Text: source + Unknown, Source: source}}
	}
	b := &builder{current: Word{Static: true, Source: source}, separators: r.vars["IFS"].firstWord().Text}
	for _, parts := range variants {
		r.expandParts(b, parts, false)
		b.endWord()
	}
	n := 0
	for _, f := range b.words {
		n += len(f.Text)
	}
	r.spend(n / 64)
	return b.words
}

// expandSingle expands a word that is not split: a value, or a file name.
func (r *reader) expandSingle(w *syntax.Word) Word { return r.expandJoined(w, unquoted) }

// expandJoined expands a word or a here-document without splitting it.
func (r *reader) expandJoined(w *syntax.Word, q quoting) Word {
	if w == nil {
		return Word{Static: true}
	}
	b := &builder{current: Word{Static: true, Source: r.sourceOf(w)}, hasWord: true}
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.addLiteral(l.Value, q)
			continue
		}
		r.expandPart(b, p, true)
	}
	b.endWord()
	r.spend(len(b.words[0].Text) / 64)
	return b.words[0]
}

// sourceOf returns the source text of a node.
func (r *reader) sourceOf(n syntax.Node) string {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start < 0 || end > len(r.src) || start > end {
		return ""
	}
	return r.src[start:end]
}

// expandParts expands the parts of a word.
func (r *reader) expandParts(b *builder, parts []syntax.WordPart, quoted bool) {
	for _, p := range parts {
		r.expandPart(b, p, quoted)
	}
}

// expandPart expands one part of a word.
func (r *reader) expandPart(b *builder, p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			b.addLiteral(p.Value, doubleQuoted)
		} else {
			b.addLiteral(p.Value, unquoted)
		}
	case *syntax.SglQuoted:
		s := p.Value
		if p.Dollar {
			s = unescape(s)
		}
		b.addLiteral(s, singleQuoted)
	case *syntax.DblQuoted:
		b.hasWord = true
		r.expandParts(b, p.Parts, true)
	case *syntax.ParamExp:
		r.expandParameter(b, p, quoted)
	case *syntax.CmdSubst:
		out := r.runSubstitution(p)
		out.Text = strings.TrimRight(out.Text, "\n")
		b.addExpansion(out, quoted)
	case *syntax.ProcSubst:
		b.addExpansion(r.runProcessSubstitution(p), true)
	case *syntax.ExtGlob:
		b.addText(p.Op.String() + p.Pattern.Value + ")")
		b.current.Glob, b.current.Static = true, false
	case *syntax.ArithmExp:
		r.runSubstitutions(p.X)
		b.addExpansion(hole(""), true)
	default:
		b.addExpansion(hole(""), true)
	}
}

// Constant returns the text of a word, "" if it is unknown before the script runs.
func Constant(w *syntax.Word) string {
	known := true
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n.(type) {
		case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			known = false
		}
		return known
	})
	if !known {
		return ""
	}
	b, r := &builder{hasWord: true}, &reader{}
	r.expandParts(b, w.Parts, false)
	return string(b.text)
}

// QuoteCommand returns argv as a command line for any POSIX shell.
func QuoteCommand(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		q, err := syntax.Quote(arg, syntax.LangPOSIX)
		if err != nil { // a byte that POSIX quoting does not support
			q = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words[i] = q
	}
	return strings.Join(words, " ")
}

// runSubstitution runs the commands in $( ) and returns their output.
func (r *reader) runSubstitution(s *syntax.CmdSubst) Word {
	sub := r.copy()
	sub.output, sub.assigned = OutputWord, ""
	if r.assigned != "" {
		sub.output = r.assigned + OutputValue
	}
	return sub.runStatements(s.Stmts, Word{Static: true})
}

// runProcessSubstitution runs the commands in <( ) or >( ). It returns the name of the file that
// replaces them.
func (r *reader) runProcessSubstitution(p *syntax.ProcSubst) Word {
	sub := r.copy()
	if p.Op == syntax.CmdOut {
		sub.runStatements(p.Stmts, Word{Text: Unknown})
		return literal("/dev/null")
	}
	sub.output = OutputWord
	*r.pipeCount++
	name := "/dev/fd/pipe" + strconv.Itoa(*r.pipeCount)
	r.writtenFiles[name] = sub.runStatements(p.Stmts, Word{Static: true})
	return literal(name)
}

// quoting is how a text is quoted in the source.
type quoting int

const (
	unquoted     quoting = iota
	doubleQuoted         // "…" and here-documents: a backslash escapes few characters
	singleQuoted         // '…'
)

// addLiteral adds text from the source and removes backslashes as a shell does.
func (b *builder) addLiteral(s string, q quoting) {
	b.hasWord = true
	if strings.Contains(s, Unknown) {
		b.current.Static = false
	}
	if q == singleQuoted || q == doubleQuoted && !strings.Contains(s, `\`) {
		b.addText(s)
		return
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] == '\n':
			i++
			continue
		case c == '\\' && i+1 < len(s) && (q == unquoted || strings.IndexByte("$`\"\\", s[i+1]) >= 0):
			i++
		case q == unquoted && (c == '*' || c == '?' || c == '['):
			b.current.Glob = true
		}
		out = append(out, s[i])
	}
	b.addText(string(out))
}

// unescape replaces the escapes of $'…', echo -e and printf.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abefnrtvE`, s[i]); at >= 0 {
			out = append(out, "\a\b\x1b\f\n\r\t\v\x1b"[at])
			continue
		}
		base, width, from := 16, 0, i+1
		switch s[i] {
		case 'x':
			width = 2
		case 'u':
			width = 4
		case 'U':
			width = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			base, width, from = 8, 3, i
		}
		to := from
		for to < len(s) && to < from+width && strings.IndexByte("0123456789abcdefABCDEF"[:base+base/16*6], s[to]) >= 0 {
			to++
		}
		n, err := strconv.ParseUint(s[from:to], base, 32)
		switch {
		case err != nil && width == 0: // \\ \' \" \?
			out = append(out, s[i])
			continue
		case err != nil:
			out = append(out, '\\', s[i])
			continue
		case base == 16 && width > 2:
			out = utf8.AppendRune(out, rune(n))
		default:
			out = append(out, byte(n))
		}
		i = to - 1
	}
	return string(out)
}

// expandBraces returns the words that {a,b} and {1..3} make of one word. It returns false if there
// are too many.
func expandBraces(parts []syntax.WordPart) ([][]syntax.WordPart, bool) {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		brace, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range out {
				out[i] = append(out[i], p)
			}
			continue
		}
		choices, ok := braceAlternatives(brace)
		if !ok || len(choices)*len(out) > maxFields {
			return nil, false
		}
		var next [][]syntax.WordPart
		for _, head := range out {
			for _, tail := range choices {
				next = append(next, append(append([]syntax.WordPart(nil), head...), tail...))
			}
		}
		out = next
	}
	return out, true
}

// braceAlternatives returns the alternatives of one brace expression. It returns false if there
// are too many.
func braceAlternatives(b *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	var out [][]syntax.WordPart
	if !b.Sequence {
		for _, e := range b.Elems {
			inner, ok := expandBraces(e.Parts)
			if !ok || len(out)+len(inner) > maxFields {
				return nil, false
			}
			out = append(out, inner...)
		}
		return out, true
	}
	first, last := b.Elems[0].Lit(), b.Elems[1].Lit()
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	text := strconv.Itoa
	if err != nil || err2 != nil {
		if len(first) != 1 || len(last) != 1 {
			return nil, false
		}
		from, to = int(first[0]), int(last[0])
		text = func(n int) string { return string(rune(n)) }
	}
	step := 1
	if len(b.Elems) > 2 {
		step, _ = strconv.Atoi(b.Elems[2].Lit())
		step = max(step, -step, 1)
	}
	if to < from {
		step = -step
	}
	for n := from; (step > 0 && n <= to) || (step < 0 && n >= to); n += step {
		if len(out) > maxFields {
			return nil, false
		}
		out = append(out, []syntax.WordPart{&syntax.Lit{Value: text(n)}})
	}
	return out, true
}
