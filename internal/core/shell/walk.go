package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stmts runs statements and gives what they print.
func (r *reader) stmts(list []*syntax.Stmt, in Word) Word {
	var out output
	for _, s := range list {
		out.add(r.stmt(s, in))
	}
	return out.word()
}

// output gathers what several statements print.
type output struct {
	text strings.Builder
	from []string
	hole bool
}

func (o *output) add(w Word) {
	o.from = union(o.from, w.From)
	if w.Text == Hole && o.hole || o.text.Len() > maxText {
		o.hole = true
		return
	}
	o.hole = o.hole || !w.Static
	o.text.WriteString(w.Text)
}

func (o *output) word() Word {
	return Word{Text: o.text.String(), Static: !o.hole, From: o.from}
}

// branch runs statements that may not be taken.
func (r *reader) branch(list []*syntax.Stmt, in Word) Word {
	r.maybe++
	defer func() { r.maybe-- }()
	return r.stmts(list, in)
}

func (r *reader) stmt(s *syntax.Stmt, in Word) Word {
	if !r.spend(1) {
		return Word{Text: Hole}
	}
	if s.Background || s.Coprocess {
		r = r.copy()
		r.background = true
	}
	io := Command{In: in, Dir: r.dir, Background: r.background, Outer: r.outer}
	to := r.redirects(s.Redirs, &io)
	call, simple := s.Cmd.(*syntax.CallExpr)
	if !simple && (len(io.Writes) > 0 || len(io.Reads) > 0) || s.Cmd == nil {
		r.host.Run(&io)
	}
	var out Word
	if simple {
		out = r.either(call, func() Word { c := io; return r.call(call, &c) })
	} else if s.Cmd != nil {
		out = r.compound(s.Cmd, io.In)
	}
	if to != nil {
		r.keep(*to, out)
		return Word{Static: true}
	}
	return out
}

// redirects collects what a statement reads and writes; to is the file that its
// output goes to.
func (r *reader) redirects(list []*syntax.Redirect, io *Command) (to *Word) {
	for _, x := range list {
		switch x.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			w := r.single(x.Word)
			io.Writes = append(io.Writes, w)
			if x.N == nil || x.N.Value == "1" {
				to = &w
			}
		case syntax.RdrInOut:
			io.Writes = append(io.Writes, r.single(x.Word))
		case syntax.RdrIn:
			w := r.single(x.Word)
			io.Reads = append(io.Reads, w)
			io.In = Word{Text: Hole, Source: "< " + w.Source}
			if text, ok := r.file(w); ok {
				io.In = text
			} else if w.Static {
				io.In = Word{Static: true} // a file that is there: no more known than a script in a file
			}
		case syntax.Hdoc, syntax.DashHdoc:
			io.In = r.heredoc(x)
		case syntax.WordHdoc:
			io.In = r.single(x.Word)
		default:
			if x.Word != nil {
				r.single(x.Word)
			}
		}
	}
	return to
}

// heredoc expands a here-document, unless its delimiter is quoted.
func (r *reader) heredoc(x *syntax.Redirect) Word {
	if strings.ContainsAny(r.source(x.Word), `'"\`) {
		return r.joined(x.Hdoc, raw)
	}
	return r.joined(x.Hdoc, inQuotes)
}

func (r *reader) compound(c syntax.Command, in Word) Word {
	out := Word{Text: Hole}
	switch c := c.(type) {
	case *syntax.Subshell:
		sub := r.copy()
		return sub.stmts(c.Stmts, in)
	case *syntax.Block:
		return r.stmts(c.Stmts, in)
	case *syntax.BinaryCmd:
		return r.binary(c, in)
	case *syntax.IfClause:
		for x := c; x != nil; x = x.Else {
			r.stmts(x.Cond, in)
			out = concat(out, r.branch(x.Then, in))
		}
	case *syntax.WhileClause:
		lines := []string{in.Text} // while read takes one at a time
		if all := strings.Split(strings.TrimSpace(in.Text), "\n"); in.Static && len(all) <= 64 {
			lines = all
		}
		for _, line := range lines {
			in.Text = line
			r.stmts(c.Cond, in)
			out = concat(out, r.branch(c.Do, in))
		}
	case *syntax.ForClause:
		return r.loop(c, in)
	case *syntax.CaseClause:
		r.single(c.Word)
		for _, item := range c.Items {
			out = concat(out, r.branch(item.Stmts, in))
		}
	case *syntax.FuncDecl:
		if c.Name == nil {
			return r.stmt(c.Body, in)
		}
		f := &function{body: c.Body, src: r.src}
		if r.funcs == nil {
			r.funcs = map[string]*function{}
		}
		r.funcs[c.Name.Value] = f
		*r.defined = append(*r.defined, f)
		return Word{Static: true}
	case *syntax.DeclClause:
		r.declare(c)
		return Word{Static: true}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		return r.stmt(c.Stmt, in)
	default:
		r.inside(c)
	}
	return out
}

// binary runs lists and pipes. In a pipe each part is a subshell, and reads what
// the one before it prints.
func (r *reader) binary(c *syntax.BinaryCmd, in Word) Word {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		first := r.stmt(c.X, in)
		if c.Op == syntax.OrStmt {
			r.maybe++
			defer func() { r.maybe-- }()
		}
		return concat(first, r.stmt(c.Y, in))
	}
	var parts []*syntax.Stmt
	for x := c; ; {
		parts = append(parts, x.Y)
		next, ok := x.X.Cmd.(*syntax.BinaryCmd)
		if !ok || len(x.X.Redirs) > 0 || next.Op != syntax.Pipe && next.Op != syntax.PipeAll {
			parts = append(parts, x.X)
			break
		}
		x = next
	}
	for _, part := range slices.Backward(parts) {
		sub := r.copy()
		in = sub.stmt(part, in)
	}
	return in
}

// loop runs its body once for each word that it is given, as far as they can be
// told.
func (r *reader) loop(c *syntax.ForClause, in Word) Word {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		r.inside(c.Loop)
		return concat(Word{Text: Hole}, r.branch(c.Do, in))
	}
	var items []Word
	for _, w := range iter.Items {
		items = append(items, r.fields(w)...)
	}
	if !iter.InPos.IsValid() {
		items = r.params
	}
	if len(items) == 0 || len(items) > 64 {
		items = append(items[:min(len(items), 16)], hole("$"+iter.Name.Value))
	}
	var out output
	for _, w := range items {
		w.Static = w.Static && !w.Glob
		r.set(iter.Name.Value, value{list: []Word{w}})
		out.add(r.stmts(c.Do, in))
	}
	return out.word()
}

// inside runs the substitutions within a node that is not looked at otherwise.
func (r *reader) inside(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			sub := r.copy()
			sub.stmts(n.Stmts, Word{Static: true})
			return false
		case *syntax.ProcSubst:
			r.process(n)
			return false
		}
		return true
	})
}

// call runs a simple command: assignments alone, or before a command.
func (r *reader) call(x *syntax.CallExpr, c *Command) Word {
	for _, w := range x.Args {
		c.Args = append(c.Args, r.fields(w)...)
	}
	if len(c.Args) == 0 {
		for _, a := range x.Assigns {
			r.assign(a)
		}
		r.host.Run(c)
		return Word{Static: true}
	}
	for _, name := range r.exported {
		c.Env = append(c.Env, concat(literal(name+"="), r.vars[name].first()))
	}
	if len(x.Assigns) > 0 {
		maybe := r.maybe
		r.maybe = 0
		for _, a := range x.Assigns {
			old, had := r.vars[a.Name.Value]
			defer r.restore(a.Name.Value, old, had)
			r.assign(a)
			c.Env = append(c.Env, concat(literal(a.Name.Value+"="), r.vars[a.Name.Value].first()))
		}
		r.maybe = maybe
	}
	return r.run(c)
}

func (r *reader) restore(name string, old value, had bool) {
	if had {
		r.vars[name] = old
	} else {
		delete(r.vars, name)
	}
}

func (v value) first() Word {
	if len(v.list) == 0 {
		return Word{Static: true}
	}
	return v.list[0]
}

// keep remembers what a file holds that the script itself writes.
func (r *reader) keep(name, text Word) {
	if name.Static && path.Base(name.Text) != "null" && len(r.files) < maxFields {
		r.files[Abs(r.dir, r.opt.Home, name.Text)] = text
	}
}

// given is what a file holds that c names, which may be what it reads.
func (r *reader) given(c *Command, name Word) (Word, bool) {
	if name.Text == "/dev/stdin" || name.Text == "/dev/fd/0" || name.Text == "/proc/self/fd/0" {
		return c.In, true
	}
	return r.file(name)
}

// file is what a file holds that the script itself wrote.
func (r *reader) file(name Word) (Word, bool) {
	if !name.Static || len(r.files) == 0 {
		return Word{}, false
	}
	w, ok := r.files[Abs(r.dir, r.opt.Home, name.Text)]
	return w, ok
}
