package shell

import (
	"path"
	"strings"
)

// knownOutput returns the output of the commands whose output follows from the script. It returns
// false for others.
func (r *reader) knownOutput(name string, c *Command) (Word, bool) {
	args := c.Args[1:]
	switch name {
	case "echo":
		escapes := false
		for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
			escapes = escapes || strings.Contains(args[0].Text, "e")
			args = args[1:]
		}
		out := Join(args)
		if escapes {
			out.Text = unescape(out.Text)
		}
		out.Text += "\n"
		return out, true
	case "printf":
		return r.formatPrintf(args), true
	case "cat", "tee":
		ops := Operands(args)
		if name == "tee" {
			for _, w := range ops {
				r.recordFile(w, c.In)
			}
			return c.In, true
		}
		if len(ops) == 0 {
			return c.In, true
		}
		if text, ok := r.fileContent(ops[0]); ok && len(ops) == 1 {
			return text, true
		}
	case "curl", "wget":
		r.recordDownload(name, args)
	case "mktemp":
		name := r.options.Temp + "/tmp.XXXXXX"
		for _, w := range Operands(args) {
			name = w.Text
		}
		return literal(name), r.options.Temp != ""
	case "dirname", "basename":
		if ops := Operands(args); len(ops) > 0 && ops[0].Static {
			return literal(partOfPath(name, ops)), true
		}
	case "pwd":
		return literal(r.dir), r.dir != ""
	case "git":
		if len(args) == 2 && args[0].Text == "rev-parse" {
			switch args[1].Text {
			case "--show-toplevel":
				return literal(r.options.Root), r.options.Root != ""
			case "--git-dir", "--absolute-git-dir", "--git-common-dir":
				return literal(r.options.Root + "/.git"), r.options.Root != ""
			}
		}
	}
	return Word{}, false
}

// partOfPath returns what dirname PATH or basename PATH [ENDING] prints.
func partOfPath(name string, ops []Word) string {
	if name == "dirname" {
		return path.Dir(ops[0].Text)
	}
	ending := ""
	if len(ops) > 1 {
		ending = ops[1].Text
	}
	return strings.TrimSuffix(path.Base(ops[0].Text), ending)
}

// formatPrintf returns the output of printf. It knows the verbs %s, %b, %q and %%.
func (r *reader) formatPrintf(args []Word) Word {
	to := ""
	if len(args) > 2 && args[0].Text == "-v" {
		to, args = args[1].Text, args[2:]
	}
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return Word{Static: true}
	}
	out := Join(args)
	format := unescape(args[0].Text)
	var b strings.Builder
	for left := args[1:]; ; {
		n := len(left)
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			switch text := ""; format[i] {
			case '%':
				b.WriteByte('%')
			case 's', 'b', 'q':
				if len(left) > 0 {
					text, left = left[0].Text, left[1:]
				}
				b.WriteString(text)
			default:
				b.WriteString(Unknown)
				out.Static = false
				left = left[min(1, len(left)):]
			}
		}
		if len(left) == 0 || len(left) == n || b.Len() > maxWordBytes {
			break
		}
	}
	out.Text = b.String()
	if to != "" {
		r.setVariable(to, value{words: []Word{out}})
		return Word{Static: true}
	}
	return out
}
