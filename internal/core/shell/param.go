package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expandParameter expands $x and every form of ${ }.
func (r *reader) expandParameter(b *builder, p *syntax.ParamExp, quoted bool) {
	v, known, each := r.lookUpParameter(p)
	if !isPlainParameter(p) {
		v, known = value{words: []Word{r.transformParameter(p, v, known)}}, true
	}
	switch {
	case !known:
		b.addExpansion(hole(r.sourceOf(p)), true)
	case each && quoted: // "$@": one word for each parameter
		for i, w := range v.words {
			if i > 0 {
				b.endWord()
			}
			b.addExpansion(w, true)
		}
	default:
		for i, w := range v.words {
			if i > 0 && quoted {
				b.addText(" ")
			} else if i > 0 {
				b.endWord()
			}
			b.addExpansion(w, quoted)
		}
	}
}

// isPlainParameter reports whether an expansion is $x or ${x}, without operators.
func isPlainParameter(p *syntax.ParamExp) bool {
	return p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Length && !p.Width && p.Names == 0 && p.NestedParam == nil &&
		len(p.Modifiers) == 0 && p.Flags == nil
}

// lookUpParameter returns the value of a parameter. The result each is true for "$@" and ${x[@]},
// which keep their words apart.
func (r *reader) lookUpParameter(p *syntax.ParamExp) (v value, known, each bool) {
	if p.Param == nil {
		return value{}, false, false
	}
	name := p.Param.Value
	if p.Excl { // ${!x}: the variable whose name x holds
		inner, ok := r.vars[name]
		if !ok || len(inner.words) != 1 || !inner.words[0].Static {
			return value{}, false, false
		}
		name = inner.words[0].Text
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		if n <= len(r.params) {
			return value{words: r.params[n-1 : n]}, true, false
		}
		return value{words: []Word{{Static: true}}}, r.params != nil && r.hasKnownParams(), false
	}
	switch name {
	case "0", "BASH_SOURCE":
		return value{words: []Word{literal(r.currentFile())}}, r.currentFile() != "", false
	case "@", "*":
		return value{words: r.params}, r.params != nil, name == "@"
	case "PWD":
		return value{words: []Word{literal(r.dir)}}, r.dir != "", false
	}
	v, known = r.vars[name]
	if !v.isArray {
		return v, known, false
	}
	if p.Index == nil {
		v.words = v.words[:min(1, len(v.words))]
		return v, known, false
	}
	if w, ok := p.Index.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		return v, known, w.Lit() == "@"
	}
	at, ok := parseNumber(p.Index)
	if at < 0 {
		at += len(v.words)
	}
	if !ok || at < 0 || at >= len(v.words) {
		return value{words: []Word{{Text: v.joinedText() + Unknown, Source: r.sourceOf(p)}}}, true, false
	}
	return value{words: v.words[at : at+1]}, known, false
}

// hasKnownParams reports whether all parameters of the script or function are known.
func (r *reader) hasKnownParams() bool {
	return !slices.ContainsFunc(r.params, func(w Word) bool { return !w.Static })
}

// transformParameter applies the operator after the name in ${name…}. If the result is unknown, it
// returns the value of the parameter followed by a hole.
func (r *reader) transformParameter(p *syntax.ParamExp, v value, known bool) Word {
	now := Word{Text: v.joinedText(), Static: known}
	for _, w := range v.words {
		now.Static = now.Static && w.Static
		now.From = union(now.From, w.From)
	}
	lost := Word{Text: now.Text + Unknown, Source: r.sourceOf(p), From: now.From}
	if p.Exp != nil {
		return r.applyExpansion(p, now, lost)
	}
	switch {
	case p.Length || !now.Static:
		r.runSubstitutions(p)
		return lost
	case p.Slice != nil:
		return sliceText(now, p.Slice, lost)
	case p.Repl != nil && p.Repl.Orig != nil:
		from, to := r.expandSingle(p.Repl.Orig), Word{Static: true}
		if p.Repl.With != nil {
			to = r.expandSingle(p.Repl.With)
		}
		if !from.Static || !to.Static || from.Text == "" || strings.ContainsAny(from.Text, `*?[\`) || strings.ContainsAny(from.Text[:1], "#%") {
			return lost
		}
		n := 1
		if p.Repl.All {
			n = -1
		}
		return Word{Text: strings.Replace(now.Text, from.Text, to.Text, n), Static: true}
	}
	return lost
}

// sliceText returns the part of a text that ${x:offset:length} selects.
func sliceText(now Word, s *syntax.Slice, lost Word) Word {
	from, ok := parseNumber(s.Offset)
	if from < 0 {
		from += len(now.Text)
	}
	to := len(now.Text)
	if s.Length != nil && ok {
		var n int
		n, ok = parseNumber(s.Length)
		to = min(to, from+n)
	}
	if !ok || from < 0 || from > to {
		return lost
	}
	return Word{Text: now.Text[from:to], Static: true}
}

// applyExpansion applies a default, alternative, trimming or case operator.
func (r *reader) applyExpansion(p *syntax.ParamExp, now, lost Word) Word {
	arg := r.expandSingle(p.Exp.Word)
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if now.Text != "" {
			return now
		}
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			r.setVariable(p.Param.Value, value{words: []Word{arg}})
		}
		return arg // a variable that the script does not set is most likely not set
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return arg
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if now.Static {
			return now
		}
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		if now.Static && arg.Static && len(now.Text) <= maxFields {
			return trimPattern(now, arg.Text, p.Exp.Op)
		}
	case syntax.UpperAll:
		return Word{Text: strings.ToUpper(now.Text), Static: now.Static && arg.Text == "", Source: lost.Source, From: now.From}
	case syntax.LowerAll:
		return Word{Text: strings.ToLower(now.Text), Static: now.Static && arg.Text == "", Source: lost.Source, From: now.From}
	}
	return lost
}

// trimPattern removes the shortest or longest prefix or suffix that matches a pattern.
func trimPattern(now Word, pattern string, op syntax.ParExpOperator) Word {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") } // in path.Match, * does not match a slash
	front := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	short := op == syntax.RemSmallPrefix || op == syntax.RemSmallSuffix
	for i := range len(now.Text) + 1 {
		n := i
		if !short {
			n = len(now.Text) - i
		}
		end, rest := now.Text[len(now.Text)-n:], now.Text[:len(now.Text)-n]
		if front {
			end, rest = now.Text[:n], now.Text[n:]
		}
		if ok, err := path.Match(flat(pattern), flat(end)); ok && err == nil {
			return Word{Text: rest, Static: true}
		}
	}
	return now
}
