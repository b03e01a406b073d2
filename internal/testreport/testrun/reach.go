package testrun

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Step is a simple command that a gate's command runs.
type Step struct {
	Words    []string // "" for an unknown word; a glob for the names of several files: t/*.sh
	Input    []string // files that it reads as its input, with "<"
	Dir      string   // the folder in which it runs, from the root; "" = the root
	From     string   // the shell script that contains it, from the root; "" = the command
	Compared bool     // something checks its output, not only its exit code: sh greet.sh | diff - want.txt
	output   string   // as shell.Command.Output
}

// Bounds of Reach.
const (
	maxSteps      = 512
	maxReachDepth = 24
)

var shells = []string{"bash", "sh", "zsh", "dash", "ksh"}

// reached holds what Reach collects.
type reached struct {
	steps   []Step
	files   []string // files that were read
	scripts int      // number of scripts that were read
	output  string   // as Step.output, of the step that runs the current script
}

// repositoryRoot is a made-up path for the root of the repository. Files outside it are not read.
const repositoryRoot = "/.repository"

// Reach returns the simple commands that a command runs. It follows wrappers, functions, shell scripts,
// Makefiles and package.json if it can read them, and also returns these files. dir is the folder in
// which the command runs. All paths are relative to the root.
func Reach(dir, command string, files Files) (steps []Step, read []string) {
	r := &reader{files: files, dir: dir, reached: &reached{}}
	r.walk(command)
	for i, s := range r.reached.steps {
		r.reached.steps[i].Compared = s.isCompared(r.reached.steps)
	}
	return r.reached.steps, r.reached.files
}

// walk collects the commands of a shell script.
func (r *reader) walk(script string) {
	if r.tooDeep() || r.reached.scripts >= maxSteps {
		return
	}
	r.reached.scripts++
	r.depth++
	dir := r.dir
	shell.Read(script, shell.Options{Dir: absolute(dir), Root: repositoryRoot, ReadFile: r.readForShell}, walker{r})
	r.dir = dir
	r.depth--
}

// absolute returns the absolute path of a folder of the repository.
func absolute(dir string) string {
	if path.IsAbs(dir) {
		return dir
	}
	return path.Join(repositoryRoot, dir)
}

// relative returns the path of a file or folder from the root, "" for the root itself. A path outside
// the repository remains.
func relative(file string) string {
	if file == repositoryRoot {
		return ""
	}
	return strings.TrimPrefix(file, repositoryRoot+"/")
}

// readForShell reads a file of the repository for shell.Read.
func (r *reader) readForShell(file string) (string, bool) {
	name := relative(file)
	if name == "" || path.IsAbs(name) {
		return "", false
	}
	b, ok := r.readBounded(name)
	return string(b), ok
}

// walker receives the commands of a script for a reader.
type walker struct{ *reader }

// Script does nothing: text that is unknown has no steps.
func (walker) Script(*shell.Command, shell.Word) {}

// TooLong does nothing: the rest of a long script is not read.
func (walker) TooLong(*shell.Command, shell.Word) {}

// Code does nothing: code of other languages is not read.
func (walker) Code(*shell.Command, shell.Word) {}

// Run adds a command, and follows what it runs.
func (w walker) Run(c *shell.Command) {
	s := Step{Words: constants(c.Args), Input: constants(c.Reads), Dir: relative(c.Dir), From: relative(c.File), output: c.Output}
	if len(s.Words) == 0 || s.Words[0] == "" || len(w.reached.steps) >= maxSteps {
		return
	}
	if s.output == "" {
		s.output = w.reached.output
	}
	if file := s.From; file != "" && !slices.Contains(w.reached.files, file) {
		w.reached.files = append(w.reached.files, file)
	}
	if !slices.ContainsFunc(w.reached.steps, s.equals) {
		w.reached.steps = append(w.reached.steps, s)
	}
	dir, output := w.dir, w.reached.output
	w.dir, w.reached.output = s.Dir, s.output
	switch name := shell.CommandName(s.Words[0]); name {
	case "npm", "pnpm", "yarn", "bun", "run-s", "run-p", "npm-run-all":
		w.readPackageManager(name, s.Words, flow{})
	case "make", "gmake":
		w.readMake(s.Words, flow{})
	default:
		if inner, ok := shell.Unwrap(s.Words); ok && shell.IsContainerTool(name) {
			w.walk(shell.QuoteCommand(inner))
		}
	}
	w.dir, w.reached.output = dir, output
}

// constants returns the texts of words, "" for each that is not known.
func constants(words []shell.Word) []string {
	var texts []string
	for _, w := range words {
		if strings.Contains(w.Text, shell.Unknown) {
			w.Text = ""
		}
		texts = append(texts, w.Text)
	}
	return texts
}

// equals reports whether two steps are the same.
func (s Step) equals(other Step) bool {
	return slices.Equal(s.Words, other.Words) && slices.Equal(s.Input, other.Input) && s.Dir == other.Dir && s.From == other.From && s.output == other.output
}

// printers are commands that pass their input on, or remove it. They check nothing.
var printers = []string{"cat", "head", "less", "more", "rm", "tail", "tee", "touch"}

// isCompared reports whether one of the steps checks the output of a step. A log that nothing names,
// or that is only printed, is not checked. The exit code decides for a variable:
// out=$(sh check.sh) || exit 1.
func (s Step) isCompared(steps []Step) bool {
	if file, ok := strings.CutPrefix(s.output, shell.OutputFile); ok {
		if file == devNull {
			return false
		}
		isPrinted := path.Ext(file) == ".log"
		for _, other := range steps {
			if !slices.Contains(slices.Concat(other.Words, other.Input), file) {
				continue
			}
			if !slices.Contains(printers, path.Base(other.Words[0])) {
				return true
			}
			isPrinted = true
		}
		return !isPrinted
	}
	if readers, ok := strings.CutPrefix(s.output, shell.OutputPipe); ok {
		return slices.ContainsFunc(strings.Fields(readers), func(name string) bool { return !slices.Contains(printers, name) })
	}
	return s.output == shell.OutputWord
}

// Script returns the script that a step runs, by a shell or by its path, relative to the step's
// folder. It returns "" if there is none.
func (s Step) Script() string {
	switch name := path.Base(s.Words[0]); {
	case (name == "." || name == "source") && len(s.Words) > 1:
		return s.Words[1]
	case slices.Contains(shells, name):
		for i := 1; i < len(s.Words); i++ {
			switch word := s.Words[i]; {
			case !strings.HasPrefix(word, "-"):
				return word
			case !strings.HasPrefix(word, "--") && (strings.HasSuffix(word, "c") || strings.Contains(word, "n")): // -n: only its syntax is checked
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
