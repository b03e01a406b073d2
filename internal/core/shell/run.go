package shell

import (
	"slices"
	"strings"
)

// shellNames are the shells whose scripts are walked.
const shellNames = "sh bash zsh dash ksh ash fish mksh rbash"

// runCommand reports a command to the host, then what this command runs. It returns the command's
// output.
func (r *reader) runCommand(c *Command) Word {
	if !r.spend(1+len(c.Args)) || r.isTooDeep(c) {
		return Word{Text: Unknown}
	}
	r.host.Run(c)
	if len(c.Args) == 0 {
		return Word{Static: true}
	}
	if !c.Args[0].Static {
		return Word{Text: Unknown}
	}
	if out, ok := r.runDefined(c); ok {
		return out
	}
	name := CommandName(c.Args[0].Text)
	if out, ok := r.runBuiltin(name, c); ok {
		return out
	}
	if out, ok := r.knownOutput(name, c); ok {
		return out
	}
	switch {
	case InList(shellNames, name):
		r.runShell(c)
	case r.runInterpreter(name, c):
	default:
		r.runWrapped(name, c)
	}
	return filterOutput(name, r.listedFiles(name, c))
}

// filterOutput returns the output of an unknown command. It contains the input, because most
// filters print some of it.
func filterOutput(name string, in Word) Word {
	out := Word{Text: in.Text, Source: "what " + name + " prints", From: in.From}
	if name == "find" {
		out.found = in.found
	}
	if !strings.HasSuffix(out.Text, Unknown) {
		out.Text += Unknown
	}
	if !slices.Contains(in.From, name) && len(in.From) < 64 {
		out.From = append([]string{name}, in.From...)
	}
	return out
}

// runInner runs a command that c would run.
func (r *reader) runInner(c *Command, args []Word) {
	if len(args) > 0 {
		r.runCommand(&Command{
			Args: args, In: c.In, Env: c.Env, Output: c.Output, Dir: r.dir, File: c.File, Background: c.Background, Outer: c,
		})
	}
}

// isTooDeep reports whether too many commands run each other, and reports such a command to the
// host.
func (r *reader) isTooDeep(c *Command) bool {
	n := 0
	for x := c.Outer; x != nil; x = x.Outer {
		n++
	}
	if n > maxWrappers {
		r.host.TooLong(c, Join(c.Args))
	}
	return n > maxWrappers
}

// CommandName returns the name of a command without its folder, and of an interpreter without its
// version: python for /usr/bin/python3.12.
func CommandName(command string) string {
	name := Base(command)
	s := strings.TrimSuffix(strings.TrimRight(name, "0123456789."), "-")
	if _, ok := interpreters[s]; ok || InList(shellNames, s) {
		return s
	}
	return name
}

// Join joins words with blanks.
func Join(words []Word) Word {
	out := Word{Static: true}
	texts, sources := make([]string, len(words)), make([]string, len(words))
	for i, w := range words {
		texts[i], sources[i] = w.Text, w.Source
		out.Static = out.Static && w.Static
		out.From = union(out.From, w.From)
	}
	out.Text, out.Source = strings.Join(texts, " "), strings.Join(sources, " ")
	return out
}

// runDefined runs functions, aliases and scripts that the script defined. It returns false for any
// other command.
func (r *reader) runDefined(c *Command) (Word, bool) {
	name := c.Args[0].Text
	if f := r.funcs[name]; f != nil && r.depth < maxScriptDepth {
		f.isCalled = true
		src, params, files := r.src, r.params, r.files
		r.src, r.params, r.files = f.src, append([]Word{}, c.Args[1:]...), f.files
		r.depth++
		out := r.runStatement(f.body, c.In)
		r.depth--
		r.src, r.params, r.files = src, params, files
		return out, true
	}
	if a, ok := r.aliases[name]; ok {
		delete(r.aliases, name) // an alias is not expanded within itself
		out := r.runScript(c, Word{Text: a.Text + " " + quoteWords(c.Args[1:]), Source: a.Source, Static: a.Static}, c.In)
		r.aliases[name] = a
		return out, true
	}
	if !strings.Contains(name, "/") {
		return Word{}, false
	}
	if text, ok := r.fileContent(c.Args[0]); ok && (r.isWritten(c.Args[0]) || isShellScript(name, text.Text)) {
		r.runScriptFile(c, text, c.Args)
		return Word{Text: Unknown}, true
	}
	return Word{}, false
}

// quoteWords quotes words so that a shell reads them unchanged.
func quoteWords(words []Word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("'" + strings.ReplaceAll(w.Text, "'", `'\''`) + "'")
	}
	return b.String()
}

// runBuiltin runs commands that change the state of the shell. It returns false for other
// commands.
func (r *reader) runBuiltin(name string, c *Command) (Word, bool) {
	none, args := Word{Static: true}, c.Args[1:]
	switch name {
	case "cd", "pushd":
		if name == "pushd" {
			r.dirStack = append(slices.Clip(r.dirStack), r.dir)
		}
		r.changeDir(args)
	case "popd":
		r.dir = ""
		if n := len(r.dirStack); n > 0 {
			r.dir, r.dirStack = r.dirStack[n-1], r.dirStack[:n-1]
		}
	case "eval":
		return r.runScript(c, Join(args), c.In), true
	case "source", ".":
		if len(args) > 0 {
			defer func(files []string) { r.files = files }(r.files)
			if text, ok := r.fileOrInput(c, args[0]); ok && r.enterFile(args[0]) {
				return r.runScript(c, text, none), true
			}
		}
	case "trap":
		if len(args) > 1 && args[0].Text != "-" {
			r.runChildScript(c, args[0], none)
		}
	case "alias":
		r.defineAliases(c, args)
	case "set":
		for i, w := range args {
			if w.Text == "--" {
				r.params = append([]Word{}, args[i+1:]...)
				break
			}
		}
	case "shift":
		if len(r.params) > 0 {
			r.params = r.params[1:]
		}
	case "unset":
		for _, w := range args {
			r.setVariable(w.Text, value{words: []Word{none}})
		}
	case "export", "declare", "local", "readonly", "typeset": // if builtin, command or a variable precedes it
		for _, w := range args {
			if name := r.assign(w); c.Args[0].Text == "export" {
				r.exportName(name)
			}
		}
	case "read", "mapfile", "readarray", "getopts":
		r.readVariables(name, args, c.In)
	default:
		return none, false
	}
	return none, true
}

// changeDir follows the arguments of cd.
func (r *reader) changeDir(args []Word) {
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		r.dir = Abs("", r.options.Home, "~")
	case args[0].Static && args[0].Text != "-":
		r.dir = Abs(r.dir, r.options.Home, args[0].Text)
	case r.options.ReadFile == nil:
		r.dir = ""
	}
}

// defineAliases defines aliases, and reports their commands.
func (r *reader) defineAliases(c *Command, args []Word) {
	for _, a := range args {
		name, text, ok := strings.Cut(a.Text, "=")
		if !ok {
			continue
		}
		w := a.Part(text)
		r.runChildScript(c, w, Word{Static: true})
		r.aliases[name] = w
	}
}

// readVariables sets variables from the input of read, mapfile and similar commands.
func (r *reader) readVariables(name string, args []Word, in Word) {
	if name == "read" {
		args = Operands(args)
	}
	rest := strings.Fields(in.Text)
	if name == "mapfile" || name == "readarray" {
		v := value{isArray: true}
		for line := range strings.Lines(in.Text) {
			v.words = append(v.words, Word{Text: strings.TrimSuffix(line, "\n"), Static: in.Static, Source: in.Source})
		}
		if len(args) > 0 && len(v.words) <= maxFields {
			r.setVariable(args[len(args)-1].Text, v)
			return
		}
	}
	for i, w := range args {
		v := hole("$" + w.Text)
		v.From = in.From
		if name == "read" && in.Static && len(rest) > 0 {
			v = literal(rest[0])
			if i == len(args)-1 {
				v = literal(strings.Join(rest, " "))
			}
			rest = rest[1:]
		}
		if !strings.HasPrefix(w.Text, "-") {
			r.setVariable(w.Text, value{words: []Word{v}})
		}
	}
}

// Operands returns the words that are not options. Every word after -- is an operand.
func Operands(args []Word) []Word {
	var out []Word
	for i, w := range args {
		if w.Static && w.Text == "--" {
			return append(out, args[i+1:]...)
		}
		if w.Static && len(w.Text) > 1 && w.Text[0] == '-' {
			continue
		}
		out = append(out, w)
	}
	return out
}
