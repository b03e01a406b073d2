package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// builder puts the words together that one word of the source expands to.
type builder struct {
	out  []Word
	cur  Word
	text []byte
	open bool   // there is a word, if an empty one
	ifs  string // what else than blanks separates words
}

func (b *builder) add(s string) {
	b.open = true
	if len(b.text)+len(s) > maxText {
		b.cur.Static = false
		return
	}
	b.text = append(b.text, s...)
}

func (b *builder) cut() {
	if b.open {
		b.cur.Text = string(b.text)
		b.out = append(b.out, b.cur)
	}
	b.cur, b.text, b.open = Word{Static: true, Source: b.cur.Source}, b.text[:0], false
}

// put adds what an expansion gave; without quotes it falls apart at blanks.
func (b *builder) put(w Word, quoted bool) {
	mark := func() {
		b.cur.Static = b.cur.Static && w.Static
		b.cur.From = union(b.cur.From, w.From)
	}
	if quoted {
		b.add(w.Text)
		mark()
		return
	}
	between := " \t\n" + b.ifs
	if w.Text != "" && strings.IndexByte(between, w.Text[0]) >= 0 {
		b.cut()
	}
	for i, field := range strings.FieldsFunc(w.Text, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		if i > 0 {
			b.cut()
		}
		b.add(field)
		b.cur.Glob = b.cur.Glob || strings.ContainsAny(field, "*?[")
		mark()
	}
	if n := len(w.Text); n > 0 && strings.IndexByte(between, w.Text[n-1]) >= 0 {
		b.cut()
	}
}

// fields expands a word to the words that a command gets.
func (r *reader) fields(w *syntax.Word) []Word {
	if w == nil {
		return nil
	}
	if s := w.Lit(); s != "" && !strings.ContainsAny(s, "\\*?[{"+Hole) {
		return []Word{literal(s)}
	}
	source := r.source(w)
	syntax.SplitBraces(w)
	variants, ok := spread(w.Parts)
	if !ok {
		return []Word{{Text: source + Hole, Source: source}}
	}
	b := &builder{cur: Word{Static: true, Source: source}, ifs: r.vars["IFS"].first().Text}
	for _, parts := range variants {
		r.parts(b, parts, false)
		b.cut()
	}
	n := 0
	for _, f := range b.out {
		n += len(f.Text)
	}
	r.spend(n / 64)
	return b.out
}

// single expands a word that stays one: a value, or the name of a file.
func (r *reader) single(w *syntax.Word) Word { return r.joined(w, unquoted) }

// joined expands a word, or a here-document, that stays one.
func (r *reader) joined(w *syntax.Word, q quoting) Word {
	if w == nil {
		return Word{Static: true}
	}
	b := &builder{cur: Word{Static: true, Source: r.source(w)}, open: true}
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.lit(l.Value, q)
			continue
		}
		r.part(b, p, true)
	}
	b.cut()
	r.spend(len(b.out[0].Text) / 64)
	return b.out[0]
}

func (r *reader) source(n syntax.Node) string {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start < 0 || end > len(r.src) || start > end {
		return ""
	}
	return r.src[start:end]
}

func (r *reader) parts(b *builder, parts []syntax.WordPart, quoted bool) {
	for _, p := range parts {
		r.part(b, p, quoted)
	}
}

func (r *reader) part(b *builder, p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			b.lit(p.Value, inQuotes)
		} else {
			b.lit(p.Value, unquoted)
		}
	case *syntax.SglQuoted:
		s := p.Value
		if p.Dollar {
			s = ansi(s)
		}
		b.lit(s, raw)
	case *syntax.DblQuoted:
		b.open = true
		r.parts(b, p.Parts, true)
	case *syntax.ParamExp:
		r.param(b, p, quoted)
	case *syntax.CmdSubst:
		sub := r.copy()
		out := sub.stmts(p.Stmts, Word{Static: true})
		out.Text = strings.TrimRight(out.Text, "\n")
		b.put(out, quoted)
	case *syntax.ProcSubst:
		b.put(r.process(p), true)
	case *syntax.ExtGlob:
		b.add(p.Op.String() + p.Pattern.Value + ")")
		b.cur.Glob, b.cur.Static = true, false
	case *syntax.ArithmExp:
		r.inside(p.X)
		b.put(hole(""), true)
	default:
		b.put(hole(""), true)
	}
}

// Constant is the text of a word, "" if it is not known before it runs.
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
	b, r := &builder{open: true}, &reader{}
	r.parts(b, w.Parts, false)
	return string(b.text)
}

// Quoted is argv as a command for any POSIX shell.
func Quoted(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		q, err := syntax.Quote(arg, syntax.LangPOSIX)
		if err != nil { // a byte that POSIX quotes cannot hold
			q = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words[i] = q
	}
	return strings.Join(words, " ")
}

// process runs what stands in <( ) or >( ), and names the file that it reads
// like.
func (r *reader) process(p *syntax.ProcSubst) Word {
	sub := r.copy()
	if p.Op == syntax.CmdOut {
		sub.stmts(p.Stmts, Word{Text: Hole})
		return literal("/dev/null")
	}
	*r.pipes++
	name := "/dev/fd/pipe" + strconv.Itoa(*r.pipes)
	r.files[name] = sub.stmts(p.Stmts, Word{Static: true})
	return literal(name)
}

type quoting int

const (
	unquoted quoting = iota
	inQuotes         // "…" and here-documents: few characters can be escaped
	raw              // '…'
)

// lit adds text from the source, its backslashes taken away as a shell would.
func (b *builder) lit(s string, q quoting) {
	b.open = true
	if strings.Contains(s, Hole) {
		b.cur.Static = false
	}
	if q == raw || q == inQuotes && !strings.Contains(s, `\`) {
		b.add(s)
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
			b.cur.Glob = true
		}
		out = append(out, s[i])
	}
	b.add(string(out))
}

// ansi reads the escapes of $'…', and of echo -e and printf.
func ansi(s string) string {
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

// spread makes the words that {a,b} and {1..3} make of one; false if they are
// too many.
func spread(parts []syntax.WordPart) ([][]syntax.WordPart, bool) {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		brace, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range out {
				out[i] = append(out[i], p)
			}
			continue
		}
		choices, ok := alternatives(brace)
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

func alternatives(b *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	var out [][]syntax.WordPart
	if !b.Sequence {
		for _, e := range b.Elems {
			inner, ok := spread(e.Parts)
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
