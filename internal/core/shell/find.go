package shell

import (
	"path"
	"slices"
	"strings"
)

// runFind runs the command of -exec, and the removal of -delete. One name stands for all files
// that find finds: a name that the tests allow, or one that no rule guards.
func (r *reader) runFind(c *Command) {
	args := c.Args[1:]
	if CommandName(c.Args[0].Text) != "find" {
		r.runFd(c)
		return
	}
	where, tests := splitFindArgs(args)
	start, found := len(args)-len(tests), r.findTargets(where, tests)
	for i := start; i < len(args); i++ {
		switch args[i].Text {
		case "-delete":
			r.runInner(c, append([]Word{literal("rm"), literal("-rf")}, found...))
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(args) {
				r.runCommand(&Command{Writes: args[i+1 : i+2], Dir: r.dir, Outer: c})
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].Text != ";" && args[end].Text != "+" {
				end++
			}
			r.copy().runInner(c, fillPlaceholders(args[i+1:end], found))
			i = end
		}
	}
}

// splitFindArgs splits the arguments of find into the folders that it searches and its tests.
func splitFindArgs(args []Word) (where, tests []Word) {
	start := 0
	for start < len(args) && !(strings.HasPrefix(args[start].Text, "-") && len(args[start].Text) > 2) && args[start].Text != "!" && args[start].Text != "(" {
		start++
	}
	where = args[:start]
	for len(where) > 0 && (where[0].Text == "-L" || where[0].Text == "-H" || where[0].Text == "-P") {
		where = where[1:]
	}
	if len(where) == 0 {
		where = []Word{literal(".")}
	}
	return where, args[start:]
}

// runFd runs the command of -x: fd [OPTION…] [PATTERN [PATH…]] -x COMMAND.
func (r *reader) runFd(c *Command) {
	at := slices.IndexFunc(c.Args, func(a Word) bool { return InList("-x -X --exec --exec-batch", a.Text) })
	if at < 0 {
		return
	}
	options := wrapper{valueLetters: "etEdSjco", valueOptions: "--extension --type --exclude --max-depth --size --threads --changed-within --owner"}
	var found, ops []Word
	for rest := options.stripOptions(c.Args[1:at]); len(rest) > 0; rest = options.stripOptions(rest[1:]) {
		ops = append(ops, rest[0])
	}
	for _, w := range append(ops[min(1, len(ops)):], literal("."))[:max(1, len(ops)-1)] {
		found = append(found, concatWords(w, literal("/x")))
	}
	run := c.Args[at+1:]
	if !slices.ContainsFunc(run, func(a Word) bool { return strings.Contains(a.Text, "{") }) {
		run = append(slices.Clip(run), literal("{}"))
	}
	r.copy().runInner(c, fillPlaceholders(run, found))
}

// findTargets returns names for the files that find finds: the folders themselves if no test
// excludes files in them, else a file in each. With ReadFile they are globs, if the tests are of
// names and types only.
func (r *reader) findTargets(where, tests []Word) []Word {
	var names []Word
	isTested, isOther := false, false
	for i, t := range tests {
		if i > 0 && (tests[i-1].Text == "!" || tests[i-1].Text == "-not") {
			continue // a negated test excludes few files
		}
		switch t.Text {
		case "-name", "-iname":
			if i+1 < len(tests) {
				names = append(names, tests[i+1])
			}
			isTested = true
		case "-type": // -type f or d excludes few files
			isTested = isTested || i+1 < len(tests) && !strings.ContainsAny(tests[i+1].Text, "fd")
		case "-path", "-ipath", "-wholename", "-regex", "-size", "-empty", "-newer", "-mtime", "-mmin", "-user", "-perm",
			"-atime", "-ctime", "-cmin", "-amin", "-group", "-links", "-inum", "-lname", "-xtype":
			isTested, isOther = true, true
		}
	}
	between := "/"
	if r.options.ReadFile != nil {
		isTested, between = true, "/**/"
	}
	switch {
	case !isTested:
		return where
	case isOther && r.options.ReadFile != nil:
		return nil
	case len(names) == 0 && r.options.ReadFile != nil:
		names = []Word{literal("*")}
	case len(names) == 0:
		names = []Word{literal("x")}
	}
	var out []Word
	for _, w := range where {
		for _, name := range names[:min(len(names), maxAlternatives)] {
			out = append(out, Word{
				Text: w.Text + between + name.Text, Source: w.Source, Static: w.Static && name.Static,
				Glob: w.Glob || hasWildcard(name.Text), From: w.From,
			})
		}
	}
	return out
}

// listedFiles returns what a command prints, as far as it is known, for the output of a filter: the
// names of files for find, ls and git ls-files, a line each, and the input of any other command.
// Without ReadFile it knows only names for an xargs that follows: a loop often selects a few of them.
func (r *reader) listedFiles(name string, c *Command) Word {
	args := Operands(c.Args[1:])
	var files []Word
	switch {
	case name == "find" && r.options.ReadFile == nil:
		return Word{found: r.findTargets(splitFindArgs(c.Args[1:]))}
	case name == "find":
		files = r.findTargets(splitFindArgs(c.Args[1:]))
	case r.options.ReadFile == nil:
		return c.In
	case name == "ls":
		for _, w := range args {
			if w.Glob {
				files = append(files, w)
			}
		}
		if len(files) == 0 {
			files = []Word{literal("*")}
		}
	case name == "git" && len(args) > 1 && args[0].Text == "ls-files":
		for _, w := range args[1:] {
			dir, base := path.Split(w.Text)
			if !hasWildcard(base) {
				dir, base = w.Text+"/", "*"
			}
			files = append(files, literal(dir+"**/"+base))
		}
	default:
		return c.In
	}
	var text strings.Builder
	for _, w := range files {
		text.WriteString(w.Text + "\n")
	}
	return Word{Text: text.String()}
}

// hasWildcard reports whether a text has a character that a shell expands to file names.
func hasWildcard(text string) bool { return strings.ContainsAny(text, "*?[") }

// fillPlaceholders replaces {} with the files that find finds.
func fillPlaceholders(args, found []Word) []Word {
	out := make([]Word, 0, len(args))
	for _, a := range args {
		switch {
		case a.Text == "{}":
			out = append(out, found...)
		case strings.Contains(a.Text, "{}") && len(found) > 0:
			a.Text = strings.ReplaceAll(a.Text, "{}", found[0].Text)
			a.Static = a.Static && found[0].Static
			out = append(out, a)
		default:
			out = append(out, a)
		}
	}
	return out
}
