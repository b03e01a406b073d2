package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// runStatements runs statements and returns their output.
func (r *reader) runStatements(list []*syntax.Stmt, in Word) Word {
	var out output
	for _, s := range list {
		out.add(r.runStatement(s, in))
	}
	return out.word()
}

// output collects the output of several statements.
type output struct {
	text strings.Builder
	from []string
	hole bool
}

func (o *output) add(w Word) {
	o.from = union(o.from, w.From)
	if w.Text == Unknown && o.hole || o.text.Len() > maxWordBytes {
		o.hole = true
		return
	}
	o.hole = o.hole || !w.Static
	o.text.WriteString(w.Text)
}

func (o *output) word() Word {
	return Word{Text: o.text.String(), Static: !o.hole, From: o.from}
}

// runBranch runs statements that may not be taken.
func (r *reader) runBranch(list []*syntax.Stmt, in Word) Word {
	r.openBranches++
	defer func() { r.openBranches-- }()
	return r.runStatements(list, in)
}

// runStatement runs a statement with its redirections and returns its output.
func (r *reader) runStatement(s *syntax.Stmt, in Word) Word {
	if !r.spend(1) {
		return Word{Text: Unknown}
	}
	if s.Background || s.Coprocess {
		r = r.copy()
		r.isBackground = true
	}
	io := Command{In: in, Dir: r.dir, Background: r.isBackground, Outer: r.outer, File: r.currentFile()}
	to := r.applyRedirects(s.Redirs, &io)
	if to != nil {
		defer func(outer string) { r.output = outer }(r.output)
		r.output = OutputFile + to.Text
	}
	io.Output = r.output
	call, simple := s.Cmd.(*syntax.CallExpr)
	if !simple && (len(io.Writes) > 0 || len(io.Reads) > 0) || s.Cmd == nil {
		r.host.Run(&io)
	}
	var out Word
	if simple {
		out = r.forEachValue(call, func() Word { c := io; return r.runSimple(call, &c) })
	} else if s.Cmd != nil {
		out = r.runCompound(s.Cmd, io.In)
	}
	if to != nil {
		r.recordFile(*to, out)
		return Word{Static: true}
	}
	return out
}

// applyRedirects collects the files that a statement reads and writes. It returns the file that
// receives its output, nil if none does.
func (r *reader) applyRedirects(list []*syntax.Redirect, io *Command) (to *Word) {
	for _, x := range list {
		switch x.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			w := r.expandSingle(x.Word)
			io.Writes = append(io.Writes, w)
			if x.N == nil || x.N.Value == "1" {
				to = &w
			}
		case syntax.RdrInOut:
			io.Writes = append(io.Writes, r.expandSingle(x.Word))
		case syntax.RdrIn:
			w := r.expandSingle(x.Word)
			io.Reads = append(io.Reads, w)
			io.In = Word{Text: Unknown, Source: "< " + w.Source}
			if text, ok := r.fileContent(w); ok {
				io.In = text
			} else if w.Static {
				io.In = Word{Static: true} // an existing file: its content is unknown and not reported
			}
		case syntax.Hdoc, syntax.DashHdoc:
			quotes := doubleQuoted
			if strings.ContainsAny(r.sourceOf(x.Word), `'"\`) { // then nothing is expanded
				quotes = singleQuoted
			}
			io.In = r.expandJoined(x.Hdoc, quotes)
		case syntax.WordHdoc:
			io.In = r.expandSingle(x.Word)
		default:
			if x.Word != nil {
				r.expandSingle(x.Word)
			}
		}
	}
	return to
}

// runCompound runs a compound command and returns its output.
func (r *reader) runCompound(c syntax.Command, in Word) Word {
	out := Word{Text: Unknown}
	switch c := c.(type) {
	case *syntax.Subshell:
		return r.copy().runStatements(c.Stmts, in)
	case *syntax.Block:
		return r.runStatements(c.Stmts, in)
	case *syntax.BinaryCmd:
		return r.runBinary(c, in)
	case *syntax.IfClause:
		for x := c; x != nil; x = x.Else {
			r.runStatements(x.Cond, in)
			out = concatWords(out, r.runBranch(x.Then, in))
		}
	case *syntax.WhileClause:
		lines := []string{in.Text} // while read reads one line at a time
		if all := strings.Split(strings.TrimSpace(in.Text), "\n"); len(all) <= 64 {
			lines = all
		}
		for _, line := range lines {
			in.Text, in.Static = line, !strings.Contains(line, Unknown)
			r.runStatements(c.Cond, in)
			out = concatWords(out, r.runBranch(c.Do, in))
		}
	case *syntax.ForClause:
		return r.runForLoop(c, in)
	case *syntax.CaseClause:
		r.expandSingle(c.Word)
		for _, item := range c.Items {
			out = concatWords(out, r.runBranch(item.Stmts, in))
		}
	case *syntax.FuncDecl:
		if c.Name == nil {
			return r.runStatement(c.Body, in)
		}
		f := &function{body: c.Body, src: r.src, files: r.files}
		r.funcs[c.Name.Value] = f
		*r.definedFunctions = append(*r.definedFunctions, f)
		return Word{Static: true}
	case *syntax.DeclClause:
		r.runDeclare(c)
		return Word{Static: true}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.runStatement(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		return r.runStatement(c.Stmt, in)
	default:
		r.runSubstitutions(c)
	}
	return out
}

// runBinary runs lists and pipes. Each part of a pipe is a subshell and reads the output of the
// part before it.
func (r *reader) runBinary(c *syntax.BinaryCmd, in Word) Word {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		first := r.runStatement(c.X, in)
		if c.Op == syntax.OrStmt {
			r.openBranches++
			defer func() { r.openBranches-- }()
		}
		return concatWords(first, r.runStatement(c.Y, in))
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
	for i, part := range slices.Backward(parts) {
		sub := r.copy()
		if i > 0 {
			sub.output = strings.TrimSuffix(OutputPipe, " ")
		}
		for _, next := range slices.Backward(parts[max(0, i-maxPipeNames):i]) {
			sub.output += " " + firstName(next)
		}
		in = sub.runStatement(part, in)
	}
	return in
}

// firstName returns the name of a simple command, as far as it is written out.
func firstName(s *syntax.Stmt) string {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		return CommandName(Constant(call.Args[0]))
	}
	return ""
}

// runForLoop runs the body of a for loop once for each word, as far as the words are known.
func (r *reader) runForLoop(c *syntax.ForClause, in Word) Word {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		r.runSubstitutions(c.Loop)
		return concatWords(Word{Text: Unknown}, r.runBranch(c.Do, in))
	}
	var items []Word
	for _, w := range iter.Items {
		items = append(items, r.expandFields(w)...)
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
		r.setVariable(iter.Name.Value, value{words: []Word{w}})
		out.add(r.runStatements(c.Do, in))
	}
	return out.word()
}

// runSubstitutions runs the command substitutions in a node that is not expanded.
func (r *reader) runSubstitutions(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.runSubstitution(n)
			return false
		case *syntax.ProcSubst:
			r.runProcessSubstitution(n)
			return false
		}
		return true
	})
}

// runSimple runs a simple command: assignments only, or a command with assignments before it.
func (r *reader) runSimple(x *syntax.CallExpr, c *Command) Word {
	for _, w := range x.Args {
		c.Args = append(c.Args, r.expandFields(w)...)
	}
	if len(c.Args) == 0 {
		for _, a := range x.Assigns {
			r.runAssignment(a)
		}
		r.host.Run(c)
		return Word{Static: true}
	}
	for _, name := range r.exportedNames {
		c.Env = append(c.Env, concatWords(literal(name+"="), r.vars[name].firstWord()))
	}
	if len(x.Assigns) > 0 {
		maybe := r.openBranches
		r.openBranches = 0
		for _, a := range x.Assigns {
			old, had := r.vars[a.Name.Value]
			defer r.restoreVariable(a.Name.Value, old, had)
			r.runAssignment(a)
			c.Env = append(c.Env, concatWords(literal(a.Name.Value+"="), r.vars[a.Name.Value].firstWord()))
		}
		r.openBranches = maybe
	}
	return r.runCommand(c)
}

// restoreVariable restores a variable after an assignment for one command.
func (r *reader) restoreVariable(name string, old value, had bool) {
	if had {
		r.vars[name] = old
	} else {
		delete(r.vars, name)
	}
}

// firstWord returns the first word of a value.
func (v value) firstWord() Word {
	if len(v.words) == 0 {
		return Word{Static: true}
	}
	return v.words[0]
}
