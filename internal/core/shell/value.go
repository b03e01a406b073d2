package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a variable holds: one word, or the words of an array.
type value struct {
	list   []Word
	array  bool
	others []value // what it may hold instead, where a branch may have set it
}

const maxOthers = 4

// copy makes the state of a subshell. Files are shared, for they stay.
func (r *reader) copy() *reader {
	r.spend(1 + len(r.vars)/8 + len(r.funcs)/8 + len(r.aliases)/8)
	sub := *r
	sub.vars, sub.funcs, sub.aliases = maps.Clone(r.vars), maps.Clone(r.funcs), maps.Clone(r.aliases)
	return &sub
}

func (r *reader) set(name string, v value) {
	if r.vars == nil {
		r.vars = map[string]value{}
	}
	if r.maybe > 0 {
		old, ok := r.vars[name]
		if !ok {
			old = value{list: []Word{hole("$" + name)}}
		}
		v.others = append(append([]value(nil), old.others...), value{list: old.list, array: old.array})
		r.unsure = true
		if len(v.others) > maxOthers {
			v = value{list: []Word{{Text: v.text() + " " + old.text() + Hole, Source: "$" + name}}}
		}
	}
	r.vars[name] = v
}

func (v value) text() string {
	texts := make([]string, len(v.list))
	for i, w := range v.list {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}

// declare runs export and its like, whose words may be made at run time: export
// $(cat FILE).
func (r *reader) declare(c *syntax.DeclClause) {
	for _, a := range c.Args {
		r.assign(a)
		if a.Naked && a.Value != nil {
			for _, w := range r.fields(a.Value) {
				if name, text, ok := strings.Cut(w.Text, "="); ok {
					r.set(name, valueOf(Word{Text: text, Source: w.Source, Static: w.Static, From: w.From}))
				}
			}
		}
		if a.Name != nil && c.Variant.Value == "export" {
			r.export(a.Name.Value)
		}
	}
}

// export notes a variable that the commands to come get in their environment.
func (r *reader) export(name string) {
	if len(r.exported) < 32 && !slices.Contains(r.exported, name) {
		r.exported = append(slices.Clip(r.exported), name)
	}
}

// assign runs NAME=value, NAME+=value or NAME=(values).
func (r *reader) assign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	old := r.vars[name]
	switch {
	case a.Array != nil:
		v := value{array: true}
		if a.Append {
			v.list = append(v.list, old.list...)
		}
		for _, e := range a.Array.Elems {
			v.list = append(v.list, r.fields(e.Value)...)
		}
		if len(v.list) > maxFields {
			v.list = []Word{hole("$" + name)}
		}
		r.set(name, v)
	case a.Index != nil:
		r.inside(a.Index)
		w := r.single(a.Value)
		at, ok := number(a.Index)
		list := append([]Word(nil), old.list...)
		if !ok || at < 0 || at > len(list) {
			list = append(list, hole("$"+name)) // somewhere in it
			at = len(list)
		}
		if at == len(list) {
			list = append(list, w)
		}
		list[at] = w
		if len(list) <= maxFields {
			r.set(name, value{list: list, array: true})
		}
	case a.Naked:
	default:
		w := r.single(a.Value)
		if a.Append && len(old.list) > 0 {
			w = concat(old.list[0], w)
		}
		r.set(name, value{list: []Word{w}})
	}
}

// concat puts two words together.
func concat(a, b Word) Word {
	w := Word{Text: a.Text + b.Text, Source: a.Source + b.Source, Static: a.Static && b.Static, From: union(a.From, b.From)}
	if b.Text == Hole && strings.HasSuffix(a.Text, Hole) {
		w.Text = a.Text
	}
	if len(w.Source) > maxText {
		w.Source = w.Source[:maxText]
	}
	if len(w.Text) > maxText {
		w.Text, w.Static = w.Text[:maxText]+Hole, false
	}
	return w
}

func union(a, b []string) []string {
	for _, s := range b {
		if len(a) < 64 && !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}

func number(x syntax.ArithmExpr) (int, bool) {
	if u, ok := x.(*syntax.UnaryArithm); ok && u.Op == syntax.Minus && !u.Post {
		n, ok := number(u.X)
		return -n, ok
	}
	w, ok := x.(*syntax.Word)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(w.Lit())
	return n, err == nil
}

// either does something once for each value that the variables used in a node
// may have.
func (r *reader) either(n syntax.Node, do func() Word) Word {
	if !r.unsure {
		return do()
	}
	var names []string
	syntax.Walk(n, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && len(r.vars[p.Param.Value].others) > 0 {
			names = append(names, p.Param.Value)
		}
		return true
	})
	return r.choose(names, do)
}

func (r *reader) choose(names []string, do func() Word) Word {
	if len(names) == 0 || !r.spend(1) {
		return do()
	}
	name := names[0]
	v := r.vars[name]
	out := Word{Static: true}
	for i, choice := range append([]value{{list: v.list, array: v.array}}, v.others...) {
		r.vars[name] = value{list: choice.list, array: choice.array}
		w := r.choose(names[1:], do)
		if i > 0 && w.Text != out.Text {
			w = Word{Text: out.Text + "\n" + w.Text + Hole, From: union(out.From, w.From)}
		}
		out = w
	}
	r.vars[name] = v
	return out
}
