package shell

import "strings"

// interpreter describes the options of an interpreter that contain code or take another value.
type interpreter struct {
	codeLetters  string // short options with code, which may be joined or the next word
	codeOptions  string // long options with code, blank-separated
	codeVerb     string // a first word that is followed by code
	valueLetters string // other short options whose value is the next word
	moduleOption string // an option that runs an installed module
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

// runInterpreter reports the code of an interpreter: on the command line, in a file that the
// script wrote, or from a pipe. It returns false for other commands.
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
			r.host.Code(c, args[0].Part(value))
			found = true
		case strings.HasPrefix(t, "--"):
		case len(t) > 1 && t[0] == '-' && at > 0 && areOptionLetters(t[1:at]):
			w := args[0].Part(t[at+1:])
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
			if text, ok := r.fileContent(args[0]); ok && r.isWritten(args[0]) {
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

// reportCode reports code to the host, unless it is empty.
func (r *reader) reportCode(c *Command, w Word) {
	if w.Text != "" {
		r.host.Code(c, w)
	}
}

// recordDownload records that the files which curl and wget write come from the network.
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
			to = Word{Text: a.Text[at+1:], Static: a.Static} // the name that curl -O and wget give it
		default:
			continue
		}
		if to.Text != "" && to.Text != "-" {
			r.recordFile(to, Word{Text: Unknown, From: []string{name}})
		}
	}
}

// areOptionLetters reports whether a text can be a bundle of short options. Code may follow such a
// bundle: -lne, -0777pe.
func areOptionLetters(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c < 'A' || c > 'Z') })
}

// runAwk reports the code of awk if it may run commands or write files: by system(), pipes or
// redirections.
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

// runShell runs sh -c 'script', a script file whose content is known, or a script from a pipe.
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
			return // -n parses the script without running it
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

// runShellFile runs a script file whose content is known, and reports one with an unknown name.
func (r *reader) runShellFile(c *Command, args []Word) {
	if text, ok := r.fileOrInput(c, args[0]); ok {
		r.runScriptFile(c, text, args)
	} else if !args[0].Static {
		r.host.Script(c, args[0])
	}
}
