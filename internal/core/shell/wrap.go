package shell

import (
	"slices"
	"strings"
)

// wrapper describes a command that runs the command in its arguments.
type wrapper struct {
	verbs  string // the words that must follow its name: exec for npm exec
	valued string // short options that take a value as the next word
	long   string // long ones that do, blank-separated
	skip   int    // operands before the command
	script string // options whose value is a script, blank-separated
	joins  bool   // a shell reads its operands as one script
	assign bool   // NAME=value may stand before the command
}

var wrappers = map[string]wrapper{
	"sudo":       {valued: "ughpCDrtUTR", long: "--user --group --host --prompt --chdir --role --type", assign: true},
	"doas":       {valued: "uC"},
	"su":         {valued: "gGsw", long: "--group --shell", script: "-c --command", skip: 1},
	"runuser":    {valued: "ugGs", long: "--user --group --shell", script: "-c --command"},
	"timeout":    {valued: "sk", long: "--signal --kill-after", skip: 1},
	"gtimeout":   {valued: "sk", long: "--signal --kill-after", skip: 1},
	"nohup":      {},
	"setsid":     {},
	"exec":       {valued: "a"},
	"builtin":    {},
	"command":    {},
	"time":       {valued: "fo"},
	"nice":       {valued: "n", long: "--adjustment"},
	"ionice":     {valued: "cnp"},
	"chrt":       {skip: 1},
	"taskset":    {skip: 1},
	"stdbuf":     {valued: "ioe", long: "--input --output --error"},
	"unbuffer":   {},
	"busybox":    {},
	"toybox":     {},
	"parallel":   {valued: "jN", long: "--jobs"},
	"watch":      {valued: "n", long: "--interval", joins: true},
	"flock":      {valued: "wE", long: "--timeout", script: "-c --command", skip: 1},
	"script":     {script: "-c --command"},
	"strace":     {valued: "oepsS"},
	"ltrace":     {valued: "oeps"},
	"chroot":     {skip: 1},
	"unshare":    {},
	"nsenter":    {valued: "tSG"},
	"caffeinate": {valued: "tw"},
	"systemd-run": {
		valued: "pMHu", long: "--unit --property --slice --description --working-directory --setenv",
	},
	"entr":   {},
	"npx":    {valued: "pw", long: "--package --workspace", script: "-c --call"},
	"bunx":   {valued: "p", long: "--package"},
	"pnpx":   {},
	"npm":    {verbs: "exec x", valued: "p", long: "--package", script: "-c --call"},
	"pnpm":   {verbs: "exec dlx"},
	"yarn":   {verbs: "exec dlx"},
	"bundle": {verbs: "exec"},
	"uv":     {verbs: "run", valued: "p", long: "--with --python --project --directory --extra --group --package --env-file"},
	"uvx":    {valued: "p", long: "--with --from --python"},
	"poetry": {verbs: "run"},
	"pdm":    {verbs: "run"},
	"pipenv": {verbs: "run"},
	"rye":    {verbs: "run"},
	"hatch":  {verbs: "run"},
	"conda":  {verbs: "run", valued: "np", long: "--name --prefix"},
	"mise":   {verbs: "exec x"},
	"direnv": {verbs: "exec", skip: 1},

	"cross-env": {assign: true},
	"dotenv":    {valued: "ef"},
	"chronic":   {},
	"xvfb-run":  {valued: "efnpsw", long: "--server-args --server-num"},
	"coverage":  {verbs: "run", long: "--source --omit --include --rcfile"},
	"c8":        {valued: "ronx", long: covers},
	"nyc":       {valued: "rnx", long: covers},
}

// covers are options of tools that watch which lines a program reaches.
const covers = "--reporter --include --exclude --lines --branches --functions --statements"

// Unwrap drops a program that runs the command in its arguments, with its own
// options: go test ./... of timeout -k 5 60 go test ./.... A word that cannot be
// told is "". It is false for a program that runs none.
func Unwrap(words []string) ([]string, bool) {
	if len(words) == 0 {
		return words, false
	}
	name := Name(words[0])
	w, ok := wrappers[name]
	if name == "env" {
		w, ok = wrapper{valued: "uC", long: "--unset --chdir", assign: true}, true
	}
	args := make([]Word, len(words)-1)
	for i, word := range words[1:] {
		args[i] = Word{Text: word, Static: word != ""}
	}
	if !ok || !w.runs(name, args) {
		return words, false
	}
	return words[len(words)-len(w.command(args)):], true
}

// runs tells whether the wrapper runs a command with these arguments.
func (w wrapper) runs(name string, args []Word) bool {
	switch {
	case w.verbs != "":
		return len(args) > 0 && word(w.verbs, args[0].Text)
	case name == "command" && len(args) > 0:
		return args[0].Text != "-v" && args[0].Text != "-V" // only looks it up
	}
	return true
}

// command is what the wrapper runs, without its verb and its own options.
func (w wrapper) command(args []Word) []Word {
	if w.verbs != "" {
		args = args[1:]
	}
	return w.strip(args)
}

// wrapped runs what stands in the arguments of c.
func (r *reader) wrapped(name string, c *Command) {
	args := c.Args[1:]
	switch name {
	case "env":
		r.env(c)
		return
	case "xargs":
		r.xargs(c)
		return
	case "find", "fd", "fdfind":
		r.find(c)
		return
	case "git":
		r.git(c)
		return
	case "at", "batch":
		r.child(c, c.In, Word{Static: true})
		return
	case "tmux", "screen":
		for _, w := range args {
			if strings.Contains(strings.TrimSpace(w.Text), " ") {
				r.child(c, w, Word{Static: true})
			}
		}
		return
	}
	w, ok := wrappers[name]
	if !ok || !w.runs(name, args) {
		return
	}
	if text, ok := w.text(args); ok {
		r.child(c, text, c.In)
		return
	}
	args = w.command(args)
	if len(args) > 0 && args[0].Text == "-c" && w.script != "" { // flock FILE -c SCRIPT
		r.child(c, Join(args[1:]), c.In)
		return
	}
	if w.joins && len(args) > 0 {
		r.child(c, Join(args), Word{Static: true})
		return
	}
	r.inner(c, args)
}

// word tells whether a word is in a blank-separated list.
func word(list, w string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == w {
			return true
		}
	}
	return false
}

// bundle tells short options in one word, of which the last takes a value.
func bundle(s string, last byte) bool {
	return len(s) > 2 && s[0] == '-' && s[len(s)-1] == last && letters(s[1:])
}

// text is the script that an option of a wrapper carries.
func (w wrapper) text(args []Word) (Word, bool) {
	for i, a := range args {
		name, value, joined := strings.Cut(a.Text, "=")
		switch {
		case w.script == "" || a.Text == "--":
			return Word{}, false
		case i+1 < len(args) && (word(w.script, a.Text) || word(w.script, "-c") && bundle(a.Text, 'c')):
			return args[i+1], true
		case joined && strings.HasPrefix(name, "--") && word(w.script, name):
			return Word{Text: value, Source: a.Source, Static: a.Static, From: a.From}, true
		}
	}
	return Word{}, false
}

// strip drops the wrapper's own options and operands.
func (w wrapper) strip(args []Word) []Word {
	skip := w.skip
	for len(args) > 0 {
		t := args[0].Text
		switch {
		case t == "--":
			args = args[1:]
			return args[min(skip, len(args)):]
		case strings.HasPrefix(t, "--"):
			if !strings.Contains(t, "=") && word(w.long, t) && len(args) > 1 {
				args = args[1:]
			}
		case strings.HasPrefix(t, "-") && len(t) > 1:
			// The first letter that takes a value takes the rest of its word, if any.
			if i := strings.IndexAny(t, w.valued); i == len(t)-1 && len(args) > 1 {
				args = args[1:]
			}
		case w.assign && strings.Contains(t, "="):
		case skip > 0:
			skip--
		default:
			return args
		}
		args = args[1:]
	}
	return nil
}

// env runs a command with other variables, in another folder, or from one word
// (-S).
func (r *reader) env(c *Command) {
	sub := r.copy()
	args := c.Args[1:]
	inner := *c
	for len(args) > 0 {
		t := args[0].Text
		name, value, assign := strings.Cut(t, "=")
		next := Word{Static: true}
		if len(args) > 1 {
			next = args[1]
		}
		eat := 1
		switch {
		case t == "-S" || t == "--split-string" || strings.HasPrefix(t, "-S") || name == "--split-string":
			text := Word{Text: strings.TrimPrefix(strings.TrimPrefix(t, "-S"), "--split-string="), Source: args[0].Source, Static: args[0].Static}
			if t == "-S" || t == "--split-string" {
				text, eat = next, 2
			}
			rest := args[min(eat, len(args)):]
			text.Text += " " + Quote(rest)
			sub.script(&inner, text, c.In)
			return
		case t == "-C" || t == "--chdir":
			sub.chdir([]Word{next})
			eat = 2
		case name == "--chdir":
			sub.chdir([]Word{{Text: value, Static: args[0].Static}})
		case t == "-u" || t == "--unset":
			eat = 2
		case t == "--":
		case strings.HasPrefix(t, "-"):
		case assign:
			sub.set(name, valueOf(Word{Text: value, Source: args[0].Source, Static: args[0].Static}))
			inner.Env = append(slices.Clip(inner.Env), args[0])
		default:
			sub.inner(&inner, args)
			return
		}
		args = args[min(eat, len(args)):]
	}
}

func valueOf(w Word) value { return value{list: []Word{w}} }

// xargs runs a command with what it reads as further words.
func (r *reader) xargs(c *Command) {
	w := wrapper{valued: "adEILnPsS", long: "--arg-file --delimiter --max-args --max-procs --replace --max-lines"}
	args := w.strip(c.Args[1:])
	if len(args) == 0 {
		return
	}
	words := []Word{{Text: Hole, Source: "what xargs reads", From: c.In.From}}
	if c.In.Static && c.In.Text != "" {
		words = nil
		for i, f := range strings.Fields(c.In.Text) {
			if i < maxFields {
				words = append(words, literal(f))
			}
		}
	}
	mark := ""
	for i, a := range c.Args {
		if t := a.Text; strings.HasPrefix(t, "-I") && len(t) > 2 {
			mark = t[2:]
		} else if t == "-I" && i+1 < len(c.Args) {
			mark = c.Args[i+1].Text
		}
	}
	sub := r.copy()
	at := slices.IndexFunc(args, func(a Word) bool { return mark != "" && strings.Contains(a.Text, mark) })
	if at < 0 {
		sub.inner(c, append(slices.Clip(args), words...))
		return
	}
	for _, x := range words {
		filled := make([]Word, len(args))
		for i, a := range args {
			a.Text = strings.ReplaceAll(a.Text, mark, x.Text)
			a.Static = a.Static && (x.Static || !strings.Contains(a.Text, Hole))
			filled[i] = a
		}
		sub.inner(c, filled)
	}
}

// git runs what its aliases and some of its subcommands carry.
func (r *reader) git(c *Command) {
	args := c.Args[1:]
	for _, w := range c.Env {
		if n, key, ok := indexed(w.Text, "GIT_CONFIG_KEY_"); ok {
			for _, w := range c.Env {
				if m, text, ok := indexed(w.Text, "GIT_CONFIG_VALUE_"); ok && m == n {
					r.gitKey(c, key, Word{Text: text, Source: w.Source, Static: w.Static})
				}
			}
		}
	}
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		eat := 1
		switch args[0].Text {
		case "-c", "--config-env":
			if len(args) > 1 {
				key, text, _ := strings.Cut(args[1].Text, "=")
				r.gitKey(c, key, Word{Text: text, Source: args[1].Source, Static: args[1].Static, From: args[1].From})
			}
			eat = 2
		case "-C", "--git-dir", "--work-tree", "--namespace":
			eat = 2
		}
		args = args[min(eat, len(args)):]
	}
	if len(args) < 2 {
		return
	}
	rest := args[1:]
	switch args[0].Text {
	case "config":
		ops := Operands(rest)
		if len(ops) > 0 && ops[0].Text == "set" {
			ops = ops[1:]
		}
		if len(ops) > 1 {
			r.gitKey(c, ops[0].Text, ops[1])
		}
	case "submodule":
		if rest[0].Text == "foreach" {
			r.child(c, Join(Operands(rest[1:])), c.In)
		}
	case "bisect":
		if rest[0].Text == "run" {
			r.inner(c, rest[1:])
		}
	case "rebase":
		for i, a := range rest {
			if (a.Text == "-x" || a.Text == "--exec") && i+1 < len(rest) {
				r.child(c, rest[i+1], c.In)
			}
		}
	}
}

// indexed takes NAME_n=value apart.
func indexed(assign, name string) (n, text string, ok bool) {
	rest, ok := strings.CutPrefix(assign, name)
	n, text, _ = strings.Cut(rest, "=")
	return n, text, ok
}

// gitKey runs what a key of git's configuration would make git run.
func (r *reader) gitKey(c *Command, key string, w Word) {
	key = strings.ToLower(strings.Trim(key, `"'`))
	switch {
	case strings.HasPrefix(key, "alias.") && strings.HasPrefix(w.Text, "!"):
		w.Text = w.Text[1:]
		r.child(c, w, c.In)
	case strings.HasPrefix(key, "alias."):
		w.Text = "git " + w.Text
		r.child(c, w, c.In)
	case key == "core.pager", key == "core.editor", key == "core.sshcommand", key == "core.fsmonitor", key == "sequence.editor":
		r.child(c, w, c.In)
	}
}
