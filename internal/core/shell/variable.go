package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is the value of a variable: one word, or the words of an array.
type value struct {
	words        []Word
	isArray      bool
	alternatives []value // other possible values, if a branch may have set the variable
}

const maxAlternatives = 4

// copy returns the state of a subshell. It shares the written files, which remain.
func (r *reader) copy() *reader {
	r.spend(1 + len(r.vars)/8 + len(r.funcs)/8 + len(r.aliases)/8)
	sub := *r
	sub.vars, sub.funcs, sub.aliases = maps.Clone(r.vars), maps.Clone(r.funcs), maps.Clone(r.aliases)
	return &sub
}

// setVariable sets a variable. In a branch that may not be taken, the old value remains as an
// alternative.
func (r *reader) setVariable(name string, v value) {
	if r.openBranches > 0 {
		old, ok := r.vars[name]
		if !ok {
			old = value{words: []Word{hole("$" + name)}}
		}
		v.alternatives = append(append([]value(nil), old.alternatives...), value{words: old.words, isArray: old.isArray})
		r.hasAlternatives = true
		if len(v.alternatives) > maxAlternatives {
			v = value{words: []Word{{Text: v.joinedText() + " " + old.joinedText() + Unknown, Source: "$" + name}}}
		}
	}
	r.vars[name] = v
}

// joinedText returns the words of a value, joined with blanks.
func (v value) joinedText() string {
	texts := make([]string, len(v.words))
	for i, w := range v.words {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}

// runDeclare runs export, declare and the like. Their words may result from expansions: export
// $(cat FILE).
func (r *reader) runDeclare(c *syntax.DeclClause) {
	for _, a := range c.Args {
		r.runAssignment(a)
		if a.Naked && a.Value != nil {
			for _, w := range r.expandFields(a.Value) {
				r.assign(w)
			}
		}
		if a.Name != nil && c.Variant.Value == "export" {
			r.exportName(a.Name.Value)
		}
	}
}

// assign sets the variable of a word NAME=value, and returns its name, also of a word without a value.
func (r *reader) assign(w Word) (name string) {
	name, text, ok := strings.Cut(w.Text, "=")
	if ok {
		r.setVariable(name, wordValue(w.Part(text)))
	}
	return name
}

// exportName records a variable that later commands receive in their environment.
func (r *reader) exportName(name string) {
	if len(r.exportedNames) < 32 && !slices.Contains(r.exportedNames, name) {
		r.exportedNames = append(slices.Clip(r.exportedNames), name)
	}
}

// runAssignment runs NAME=value, NAME+=value or NAME=(values).
func (r *reader) runAssignment(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	r.assigned = name
	defer func() { r.assigned = "" }()
	old := r.vars[name]
	switch {
	case a.Array != nil:
		v := value{isArray: true}
		if a.Append {
			v.words = append(v.words, old.words...)
		}
		for _, e := range a.Array.Elems {
			v.words = append(v.words, r.expandFields(e.Value)...)
		}
		if len(v.words) > maxFields {
			v.words = []Word{hole("$" + name)}
		}
		r.setVariable(name, v)
	case a.Index != nil:
		r.runSubstitutions(a.Index)
		w := r.expandSingle(a.Value)
		at, ok := parseNumber(a.Index)
		list := append([]Word(nil), old.words...)
		if !ok || at < 0 || at > len(list) {
			list = append(list, hole("$"+name)) // the index is unknown
			at = len(list)
		}
		if at == len(list) {
			list = append(list, w)
		}
		list[at] = w
		if len(list) <= maxFields {
			r.setVariable(name, value{words: list, isArray: true})
		}
	case a.Naked:
	default:
		w := r.expandSingle(a.Value)
		if a.Append && len(old.words) > 0 {
			w = concatWords(old.words[0], w)
		}
		r.setVariable(name, value{words: []Word{w}})
	}
}

// concatWords joins two words without a blank.
func concatWords(a, b Word) Word {
	w := Word{Text: a.Text + b.Text, Source: a.Source + b.Source, Static: a.Static && b.Static, From: union(a.From, b.From)}
	if b.Text == Unknown && strings.HasSuffix(a.Text, Unknown) {
		w.Text = a.Text
	}
	if len(w.Source) > maxWordBytes {
		w.Source = w.Source[:maxWordBytes]
	}
	if len(w.Text) > maxWordBytes {
		w.Text, w.Static = w.Text[:maxWordBytes]+Unknown, false
	}
	return w
}

// union returns the strings of both lists, without duplicates.
func union(a, b []string) []string {
	for _, s := range b {
		if len(a) < 64 && !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}

// parseNumber returns the number that an arithmetic expression writes out.
func parseNumber(x syntax.ArithmExpr) (int, bool) {
	if u, ok := x.(*syntax.UnaryArithm); ok && u.Op == syntax.Minus && !u.Post {
		n, ok := parseNumber(u.X)
		return -n, ok
	}
	w, ok := x.(*syntax.Word)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(w.Lit())
	return n, err == nil
}

// forEachValue calls do for each combination of the possible values of the variables in a node.
func (r *reader) forEachValue(n syntax.Node, do func() Word) Word {
	if !r.hasAlternatives {
		return do()
	}
	var names []string
	syntax.Walk(n, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && len(r.vars[p.Param.Value].alternatives) > 0 {
			names = append(names, p.Param.Value)
		}
		return true
	})
	return r.forEachChoice(names, do)
}

// forEachChoice calls do for each combination of the possible values of some variables.
func (r *reader) forEachChoice(names []string, do func() Word) Word {
	if len(names) == 0 || !r.spend(1) {
		return do()
	}
	name := names[0]
	v := r.vars[name]
	out := Word{Static: true}
	for i, choice := range append([]value{{words: v.words, isArray: v.isArray}}, v.alternatives...) {
		r.vars[name] = value{words: choice.words, isArray: choice.isArray}
		w := r.forEachChoice(names[1:], do)
		if i > 0 && w.Text != out.Text {
			w = Word{Text: out.Text + "\n" + w.Text + Unknown, From: union(out.From, w.From)}
		}
		out = w
	}
	r.vars[name] = v
	return out
}
