package guard

import "strings"

// writer judges commands that change the files they name.
func (j *judge) writer(name string, args []word) {
	switch name {
	case "rm", "rmdir", "unlink", "shred", "trash":
		j.each(operands(args), j.remove)
	case "touch", "mkdir", "mkfifo", "tee":
		j.each(operands(args), j.write)
	case "truncate":
		j.each(operands(dropValues(args, "sr")), j.write)
	case "chmod", "chown", "chgrp":
		if ops := operands(args); len(ops) > 1 {
			j.each(ops[1:], j.write)
		}
	case "cp", "install", "ln", "rsync":
		j.copyTo(args)
	case "mv":
		j.copyTo(args)
		if ops := operands(args); len(ops) > 1 {
			j.each(ops[:len(ops)-1], j.remove)
		}
	case "sed", "gsed":
		j.sed(args)
	case "dd":
		for _, w := range args {
			if to, ok := strings.CutPrefix(w.text, "of="); ok && w.static {
				j.write(to)
			}
		}
	case "curl":
		j.option(args, "-o", "--output")
	case "wget":
		j.option(args, "-O", "--output-document")
	}
}

func (j *judge) each(args []word, judge func(string)) {
	for _, w := range args {
		if w.static && w.text != "" {
			judge(w.text)
		}
	}
}

// copyTo judges the last operand, or the folder that -t names. A remote place
// (host:path) is no file here.
func (j *judge) copyTo(args []word) {
	if j.option(args, "-t", "--target-directory") {
		return
	}
	ops := operands(args)
	if len(ops) < 2 {
		return
	}
	to := ops[len(ops)-1]
	if host, _, remote := strings.Cut(to.text, ":"); to.static && (!remote || strings.Contains(host, "/") || len(host) == 1) {
		j.write(to.text)
	}
}

// sed writes only with -i; its first operand is the script, unless -e or -f
// gave one.
func (j *judge) sed(args []word) {
	if !has(args, "--in-place", "i") {
		return
	}
	ops := operands(dropValues(args, "ef"))
	if !has(args, "--expression", "e") && !has(args, "--file", "f") && len(ops) > 0 {
		ops = ops[1:]
	}
	j.each(ops, j.write)
}

// option judges the file that an option names, and tells whether it is there.
func (j *judge) option(args []word, short, long string) bool {
	for i, w := range args {
		value, joined := strings.CutPrefix(w.text, long+"=")
		switch {
		case (w.text == short || w.text == long) && i+1 < len(args):
			j.each(args[i+1:i+2], j.write)
			return true
		case joined:
			j.each([]word{{value, w.static}}, j.write)
			return true
		}
	}
	return false
}

// dropValues takes off short options with the value that follows them.
func dropValues(args []word, letters string) []word {
	var out []word
	for i := 0; i < len(args); i++ {
		t := args[i].text
		if len(t) == 2 && t[0] == '-' && strings.IndexByte(letters, t[1]) >= 0 {
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}
