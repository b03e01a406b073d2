package shell

import "strings"

// inline says which options of an interpreter carry code, and which take a value
// that is none.
type interpreter struct {
	codeLetters  string // letters of short options; the value may be joined, or the next word
	codeOptions  string // long options, blank-separated
	codeVerb     string // a first word that has the code behind it
	valueLetters string // other short options that take the next word
	moduleOption string // an option that runs something installed
}

var interpreters = map[string]interpreter{
	"python":     {codeLetters: "c", valueLetters: "WX", moduleOption: "-m"},
	"pypy":       {codeLetters: "c", valueLetters: "WX", moduleOption: "-m"},
	"node":       {codeLetters: "ep", codeOptions: "--eval --print", valueLetters: "rC"},
	"nodejs":     {codeLetters: "ep", codeOptions: "--eval --print", valueLetters: "rC"},
	"bun":        {codeLetters: "ep", codeOptions: "--eval --print", valueLetters: "r"},
	"deno":       {codeVerb: "eval"},
	"perl":       {codeLetters: "eE", valueLetters: "I"},
	"ruby":       {codeLetters: "e", valueLetters: "rI"},
	"php":        {codeLetters: "r", valueLetters: "dcf"},
	"lua":        {codeLetters: "e", valueLetters: "l"},
	"Rscript":    {codeLetters: "e"},
	"osascript":  {codeLetters: "e"},
	"pwsh":       {codeOptions: "-Command -c"},
	"powershell": {codeOptions: "-Command -c"},
}

// interpret tells the host of code for an interpreter: on the command line, in a
// file that the script wrote, or from a pipe.
func (r *reader) runInterpreter(name string, c *Command) bool {
	if name == "awk" || name == "gawk" || name == "mawk" || name == "nawk" {
		r.runAwk(c)
		return true
	}
	x, ok := interpreters[name]
	if !ok {
		return false
	}
	found := false
	for args := c.Args[1:]; len(args) > 0; args = args[1:] {
		t := args[0].Text
		long, value, joined := strings.Cut(t, "=")
		switch at := strings.IndexAny(t, x.codeLetters); {
		case x.moduleOption != "" && strings.HasPrefix(t, x.moduleOption):
			return true
		case x.codeVerb != "" && t == x.codeVerb, InList(x.codeOptions, t):
			if len(args) > 1 {
				r.host.Code(c, args[1])
				args = args[1:]
			}
			found = true
		case joined && InList(x.codeOptions, long):
			r.host.Code(c, Word{Text: value, Source: args[0].Source, Static: args[0].Static, From: args[0].From})
			found = true
		case strings.HasPrefix(t, "--"):
		case len(t) > 1 && t[0] == '-' && at > 0 && areOptionLetters(t[1:at]):
			w := Word{Text: t[at+1:], Source: args[0].Source, Static: args[0].Static, From: args[0].From}
			if w.Text == "" && len(args) > 1 {
				w = args[1]
				args = args[1:]
			}
			r.host.Code(c, w)
			found = true
		case len(t) == 2 && t[0] == '-' && strings.Contains(x.valueLetters, t[1:]):
			args = args[min(1, len(args)-1):]
		case len(t) > 1 && t[0] == '-':
		case found: // an argument of the code
			return true
		case t == "-":
			r.reportCode(c, c.In)
			return true
		default:
			if text, ok := r.fileContent(args[0]); ok {
				r.reportCode(c, text)
			}
			return true
		}
	}
	if !found {
		r.reportCode(c, c.In)
	}
	return true
}

func (r *reader) reportCode(c *Command, w Word) {
	if w.Text != "" {
		r.host.Code(c, w)
	}
}

// download remembers who wrote the files that the network sends.
func (r *reader) recordDownload(name string, args []Word) {
	letter := byte('o')
	if name == "wget" {
		letter = 'O'
	}
	for i, a := range args {
		long, value, _ := strings.Cut(a.Text, "=")
		to := Word{Text: value, Static: a.Static}
		switch at := strings.LastIndexByte(a.Text, '/'); {
		case i+1 < len(args) && (a.Text == "-"+string(letter) || InList("--output --output-document", a.Text) || isBundle(a.Text, letter)):
			to = args[i+1]
		case long == "--output" || long == "--output-document":
		case at > 0 && strings.Contains(a.Text, "://"):
			to = Word{Text: a.Text[at+1:], Static: a.Static} // as curl -O and wget name it
		default:
			continue
		}
		if to.Text != "" && to.Text != "-" {
			r.recordFile(to, Word{Text: Hole, From: []string{name}})
		}
	}
}

// letters tells a bundle of short options: -lne has the code behind it, and
// -0777pe too.
func areOptionLetters(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c < 'A' || c > 'Z') })
}

// awk runs commands by system() and pipes only.
func (r *reader) runAwk(c *Command) {
	for args := c.Args[1:]; len(args) > 0; args = args[1:] {
		switch t := args[0].Text; {
		case t == "-f" || t == "-v" || t == "-F" || t == "-i":
			if t == "-f" {
				return
			}
			args = args[min(1, len(args)-1):]
		case len(t) > 1 && t[0] == '-':
		default:
			if strings.Contains(t, "system") || strings.Contains(t, "|") || strings.Contains(t, ">") {
				r.host.Code(c, args[0])
			}
			return
		}
	}
}

// shell runs sh -c 'script', a script that the script itself wrote, or one from a
// pipe. A script in any other file is not read.
func (r *reader) runShell(c *Command) {
	args := c.Args[1:]
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		switch {
		case t == "-" || t == "--" || t == "-s":
			if t == "--" && i+1 < len(args) {
				r.runShellFile(c, args[i+1:])
				return
			}
			sub := r.copy()
			sub.params = append([]Word{}, args[i+1:]...)
			sub.runScript(c, c.In, Word{Static: true})
			return
		case len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.Contains(t, "n"):
			return // -n: reads the script, and runs nothing
		case strings.HasPrefix(t, "--"):
			if t == "--rcfile" || t == "--init-file" {
				i++
			}
		case (t[:min(1, len(t))] == "-" || t[:min(1, len(t))] == "+") && strings.Contains(t, "c"):
			rest := args[i+1:]
			if strings.HasSuffix(t, "o") && len(rest) > 0 { // -euco pipefail
				rest = rest[1:]
			}
			for len(rest) > 1 && strings.HasPrefix(rest[0].Text, "-") {
				if strings.HasSuffix(rest[0].Text, "o") && len(rest) > 2 {
					rest = rest[1:]
				}
				rest = rest[1:]
			}
			if len(rest) > 0 {
				sub := r.copy()
				sub.params = append([]Word{}, rest[min(2, len(rest)):]...)
				sub.runScript(c, rest[0], c.In)
			}
			return
		case t != "" && (t[0] == '-' || t[0] == '+'):
			if strings.HasSuffix(t, "o") || strings.HasSuffix(t, "O") {
				i++
			}
		default:
			r.runShellFile(c, args[i:])
			return
		}
	}
	r.runChildScript(c, c.In, Word{Static: true})
}

func (r *reader) runShellFile(c *Command, args []Word) {
	if text, ok := r.fileOrInput(c, args[0]); ok {
		r.runScriptFile(c, text, args[1:])
	} else if !args[0].Static {
		r.host.Script(c, args[0])
	}
}
