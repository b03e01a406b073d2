package shell

import "strings"

// find runs what -exec carries, and removes what -delete does. What it finds is
// told as one name: of the files that it looks for, or one that nobody guards.
func (r *reader) find(c *Command) {
	args := c.Args[1:]
	start := 0
	for start < len(args) && !(strings.HasPrefix(args[start].Text, "-") && len(args[start].Text) > 2) && args[start].Text != "!" && args[start].Text != "(" {
		start++
	}
	where := args[:start]
	for len(where) > 0 && (where[0].Text == "-L" || where[0].Text == "-H" || where[0].Text == "-P") {
		where = where[1:]
	}
	if len(where) == 0 {
		where = []Word{literal(".")}
	}
	found := targets(where, args[start:])
	for i := start; i < len(args); i++ {
		switch args[i].Text {
		case "-delete":
			r.inner(c, append([]Word{literal("rm"), literal("-rf")}, found...))
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(args) {
				r.run(&Command{Writes: args[i+1 : i+2], Dir: r.dir, Outer: c})
			}
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(args) && args[end].Text != ";" && args[end].Text != "+" {
				end++
			}
			sub := r.copy()
			sub.inner(c, fill(args[i+1:end], found))
			i = end
		}
	}
}

// targets name what find finds: the folders themselves if it tests nothing, else
// something in them.
func targets(where, tests []Word) []Word {
	name, tested := literal("x"), false
	for i, t := range tests {
		switch t.Text {
		case "-name", "-iname":
			if i+1 < len(tests) && (i == 0 || tests[i-1].Text != "!" && tests[i-1].Text != "-not") {
				name = tests[i+1]
			}
			tested = true
		case "-path", "-ipath", "-wholename", "-regex", "-type", "-size", "-empty", "-newer", "-mtime", "-mmin", "-user", "-perm",
			"-atime", "-ctime", "-cmin", "-amin", "-group", "-links", "-inum", "-lname", "-xtype":
			tested = true
		}
	}
	if !tested {
		return where
	}
	out := make([]Word, len(where))
	for i, w := range where {
		out[i] = Word{
			Text: w.Text + "/" + name.Text, Source: w.Source, Static: w.Static && name.Static,
			Glob: w.Glob || strings.ContainsAny(name.Text, "*?["), From: w.From,
		}
	}
	return out
}

// fill puts what find finds where {} stands.
func fill(args, found []Word) []Word {
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
