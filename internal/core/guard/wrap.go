package guard

import "strings"

var shells = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "fish": true, "mksh": true,
}

// wrapper describes a command that runs the command in its arguments.
type wrapper struct {
	valued string // short options that take a value as the next word
	long   string // long ones that do, blank-separated
	skip   int    // operands before the command
	assign bool   // NAME=value may stand before the command
}

var wrappers = map[string]wrapper{
	"env":        {valued: "uC", long: "--unset --chdir", assign: true},
	"sudo":       {valued: "ughpCDrtUTR", long: "--user --group --host --prompt --chdir --role --type", assign: true},
	"doas":       {valued: "uC"},
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
	"stdbuf":     {valued: "ioe"},
	"unbuffer":   {},
	"busybox":    {},
	"xargs":      {valued: "adEILnPsS", long: "--arg-file --delimiter --max-args --max-procs --replace --max-lines"},
	"parallel":   {valued: "jN", long: "--jobs"},
	"watch":      {valued: "n", long: "--interval"},
	"flock":      {valued: "wE", skip: 1},
	"strace":     {valued: "oepsS"},
	"caffeinate": {valued: "tw"},
}

// unwrap takes wrappers off until the command itself is first. What carries a
// script as text (bash -c, eval, find -exec) is judged on the way; nothing is
// left then.
func (j *judge) unwrap(args []word) []word {
	for len(args) > 0 && args[0].static {
		name := base(args[0].text)
		switch {
		case shells[name]:
			j.shell(args[1:])
			return nil
		case name == "eval":
			j.embedded(join(args[1:]))
			return nil
		case name == "trap" && len(args) > 1:
			j.embedded(args[1])
			return nil
		case name == "alias":
			j.alias(args[1:])
			return nil
		case name == "find":
			j.find(args[1:])
			return nil
		case name == "command" && has(args[1:min(2, len(args))], "", "vV"):
			return nil // only looks it up
		}
		w, ok := wrappers[name]
		if !ok {
			return args
		}
		if name == "env" || name == "watch" {
			j.splitString(args[1:])
		}
		args = w.strip(args[1:])
	}
	return args
}

// strip drops the wrapper's own options and operands.
func (w wrapper) strip(args []word) []word {
	skip := w.skip
	for len(args) > 0 {
		t := args[0].text
		switch {
		case t == "--":
			args = args[1:]
			return args[min(skip, len(args)):]
		case strings.HasPrefix(t, "--"):
			if !strings.Contains(t, "=") && containsWord(w.long, t) && len(args) > 1 {
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

func containsWord(list, w string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == w {
			return true
		}
	}
	return false
}

// shell judges sh -c 'script'; a script in a file is not read.
func (j *judge) shell(args []word) {
	for i, a := range args {
		if i > 0 && strings.HasSuffix(args[i-1].text, "o") && !strings.HasPrefix(a.text, "-") {
			continue // -o pipefail, -euo pipefail
		}
		if !a.static || !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") {
			return
		}
		if !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c") {
			rest := args[i+1:]
			for len(rest) > 1 && strings.HasPrefix(rest[0].text, "-") {
				rest = rest[1:]
			}
			if len(rest) > 0 {
				cwd, branch := j.cwd, j.branch
				j.embedded(rest[0])
				j.cwd, j.branch = cwd, branch
			}
			return
		}
	}
}

// splitString judges env -S 'git push' and watch 'git push'.
func (j *judge) splitString(args []word) {
	for i, a := range args {
		switch {
		case (a.text == "-S" || a.text == "--split-string") && i+1 < len(args):
			j.embedded(args[i+1])
		case strings.HasPrefix(a.text, "-S"):
			j.embedded(word{text: a.text[2:], static: a.static})
		case strings.Contains(a.text, " ") && !strings.Contains(a.text, "="):
			j.embedded(a)
		}
	}
}

func (j *judge) alias(args []word) {
	for _, a := range args {
		if _, value, ok := strings.Cut(a.text, "="); ok {
			j.embedded(word{text: value, static: a.static})
		}
	}
}

// find judges what -exec runs and where -delete deletes.
func (j *judge) find(args []word) {
	start := 0
	for start < len(args) && !strings.HasPrefix(args[start].text, "-") {
		start++
	}
	where := args[:start]
	for i := start; i < len(args); i++ {
		switch args[i].text {
		case "-delete":
			for _, w := range where {
				if w.static {
					j.write(w.text + "/x")
				}
			}
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(args) && args[i+1].static {
				j.write(args[i+1].text)
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && args[end].text != "+" {
				end++
			}
			j.command(j.inEach(args[i+1:end], where))
			i = end
		}
	}
}

// inEach puts the place that is searched where find puts what it finds.
func (j *judge) inEach(args, where []word) []word {
	out := make([]word, 0, len(args))
	for _, a := range args {
		if a.text != "{}" || len(where) == 0 {
			out = append(out, a)
			continue
		}
		for _, w := range where {
			out = append(out, word{text: w.text + "/x", static: w.static})
		}
	}
	return out
}
