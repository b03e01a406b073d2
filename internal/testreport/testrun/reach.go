package testrun

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Step is a simple command that a command comes to.
type Step struct {
	Words []string // "" for a word that is not constant; a loop's variable is a word of its loop, such as t/*.sh
	Input []string // files that it reads as its input, with "<"
	Dir   string   // the folder that it runs in, from that of the command; "" for that
	From  string   // the shell script that it stands in, from the same folder; "" for none
	// Compared: something reads its output, so its exit code is not all that counts:
	// `sh greet.sh | diff - want.txt`.
	Compared bool
}

// Bounds of Reach.
const (
	maxSteps      = 512
	maxReachDepth = 24
	maxLoopWords  = 16 // the commands of a loop with more are read for the first ones
)

var (
	shells       = []string{"bash", "sh", "zsh", "dash", "ksh"}
	shellEndings = []string{".sh", ".bash", ".zsh", ".ksh"}
)

// Reach returns the commands that a command comes to, through wrappers, shell scripts,
// Makefiles and package.json, as far as these can be read; and the files that lead there.
func Reach(command string, files Files) (steps []Step, through []string) {
	r := &reader{files: files, follow: true}
	r.script(command, flow{})
	return r.steps, r.through
}

// note keeps a command, and reads the shell script that it runs.
func (r *reader) note(words []string, f flow) {
	if !r.follow || len(r.steps) >= maxSteps {
		return
	}
	read := f.written || strings.HasPrefix(f.mask, "| ") || strings.HasSuffix(f.mask, "( )")
	s := Step{Words: words, Input: f.input, Dir: r.dir, From: r.from, Compared: read}
	r.steps = append(r.steps, s)
	script := s.Script()
	if ending := path.Ext(script); script == "" || ending != "" && !slices.Contains(shellEndings, ending) {
		return
	}
	known := slices.Contains(r.through, path.Join(r.dir, script))
	text, ok := r.file("", script)
	if !ok || known || path.Ext(script) == "" && words[0] == script && !bytes.HasPrefix(text, []byte("#!")) {
		return
	}
	dir, from := r.dir, r.from
	r.from = path.Join(r.dir, script)
	r.script(string(text), f)
	r.dir, r.from = dir, from
}

// Script is the file that the command has a shell run, or that it is itself, seen from
// its folder; "" for none.
func (s Step) Script() string {
	switch name := path.Base(s.Words[0]); {
	case (name == "." || name == "source") && len(s.Words) > 1:
		return s.Words[1]
	case slices.Contains(shells, name):
		for i := 1; i < len(s.Words); i++ {
			switch word := s.Words[i]; {
			case !strings.HasPrefix(word, "-"):
				return word
			case strings.HasSuffix(word, "c") && !strings.HasPrefix(word, "--"):
				return ""
			case strings.HasSuffix(word, "o"): // -euo pipefail
				i++
			}
		}
	case strings.Contains(s.Words[0], "/") && !path.IsAbs(s.Words[0]):
		return s.Words[0]
	}
	return ""
}

// loopVariable is the variable of a for loop, with one word of the loop.
type loopVariable struct{ name, value string }

// forClause reads the body of a loop: for Reach once for each word of the loop.
func (r *reader) forClause(cmd *syntax.ForClause, f flow) {
	loop, ok := cmd.Loop.(*syntax.WordIter)
	if !r.follow || !ok || len(loop.Items) == 0 {
		r.list(cmd.Do, f)
		return
	}
	for _, item := range loop.Items[:min(len(loop.Items), maxLoopWords)] {
		r.loops = append(r.loops, loopVariable{loop.Name.Value, shell.Constant(item)})
		r.list(cmd.Do, f)
		r.loops = r.loops[:len(r.loops)-1]
	}
}

// word returns the text of a word; "" if it depends on more than the variable of one loop.
func (r *reader) word(word *syntax.Word) string {
	text := shell.Constant(word)
	for _, v := range slices.Backward(r.loops) {
		if with, ok := template(word.Parts, v.name); ok && text == "" && v.value != "" {
			return strings.ReplaceAll(with, "\x00", v.value)
		}
	}
	return text
}
