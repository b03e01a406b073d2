package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/redact"
)

// Goal is what the user asked for, before any option is looked at.
type Goal struct {
	Prompt string         // text of the goal, "" for a plan alone
	Plan   *planfile.File // nil without a plan
	Path   string         // of the plan, relative to the root, slashes
	Layer  config.Layer   // options in the loop file's front matter
	From   string         // what the user named, for display: "plan.md", "prompt"

	HeldSecret bool // and the prompt stands without it
}

// Read finds out what the words behind `pawl run` mean: nothing (the plan found
// here), one file (a plan, a loop file, or a prompt as text), or a prompt. The
// option --plan names a plan beside a prompt; "" for none.
func Read(root, dir string, words []string, planPath string) (Goal, error) {
	g := Goal{From: "prompt"}
	switch file, err := isFile(dir, words); {
	case err != nil:
		return Goal{}, err
	case file != "":
		if err := g.readFile(root, file); err != nil {
			return Goal{}, err
		}
	case len(words) > 0:
		if g.Prompt = strings.TrimSpace(strings.Join(words, " ")); g.Prompt == "" {
			return Goal{}, failure.New(failure.Usage, "say what is to be done, or name a plan", "there is nothing to do in an empty prompt")
		}
	case planPath == "":
		found, err := thePlan(root, dir)
		if err != nil {
			return Goal{}, err
		}
		planPath = found
	}
	if planPath != "" {
		if err := g.readPlan(root, absolute(dir, planPath)); err != nil {
			return Goal{}, err
		}
	}
	return g, nil
}

// longest is how long the name of a file can be, in bytes.
const longest = 255

// isFile is the path of the one word that names a file. A lone word that looks
// like a path and names none is a mistake, not a prompt.
func isFile(dir string, words []string) (string, error) {
	if err := severalFiles(dir, words); err != nil {
		return "", err
	}
	if len(words) != 1 || strings.TrimSpace(words[0]) == "" || len(filepath.Base(words[0])) > longest {
		return "", nil
	}
	word := words[0]
	path := absolute(dir, word)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		return path, nil
	case err == nil && info.IsDir():
		return "", failure.New(failure.Usage, "name a plan in it, or a prompt in words", "%s is a folder", word)
	case err == nil:
		return "", failure.New(failure.Usage, "", "%s is not a regular file", word)
	case !errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(word, " \n"):
		return "", failure.New(failure.Usage, "", "read %s: %w", word, err)
	}
	if isPlanName(word) {
		return "", noFile(dir, word)
	}
	return "", nil
}

// isPlanName reports whether a word looks like the name of a plan, be there one or not.
func isPlanName(word string) bool {
	ext := filepath.Ext(word)
	return !strings.ContainsAny(word, " \n") && (ext == ".md" || ext == ".json" || ext == ".txt")
}

// noFile says that a word which looks like the name of a plan names none.
func noFile(dir, word string) error {
	hint := "name a plan or loop file that is there, or give a prompt in words"
	if near := failure.Nearest(filepath.Base(word), plansIn(filepath.Dir(absolute(dir, word)))); near != "" {
		hint = fmt.Sprintf("did you mean %s?", filepath.Join(filepath.Dir(word), near))
	}
	return failure.New(failure.Usage, hint, "there is no file %s", word)
}

// plansIn are the files in a folder that a goal may be read from.
func plansIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the folder is what is not there
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.Type().IsRegular() && (ext == ".md" || ext == ".json" || ext == ".txt") {
			names = append(names, e.Name())
		}
	}
	return names
}

// severalFiles refuses words that all name files, or look so: as a prompt they say
// nothing.
func severalFiles(dir string, words []string) error {
	if len(words) < 2 {
		return nil
	}
	missing := ""
	for _, word := range words {
		switch {
		case namesFile(dir, word):
		case isPlanName(word):
			missing = word
		default:
			return nil
		}
	}
	if missing != "" {
		return noFile(dir, missing)
	}
	all := strings.Join(words, " ")
	return failure.New(failure.Usage,
		fmt.Sprintf("pawl run %s, and then the next; a prompt has its plan behind --plan; to mean the words themselves:  pawl run %q", words[0], all),
		"these are %d files, and a loop has one goal: %s", len(words), all)
}

// namesFile reports whether a word names a regular file.
func namesFile(dir, word string) bool {
	if word == "" || len(filepath.Base(word)) > longest {
		return false
	}
	info, err := os.Stat(absolute(dir, word))
	return err == nil && info.Mode().IsRegular()
}

func (g *Goal) readFile(root, path string) error {
	g.From = filepath.Base(path)
	if filepath.Ext(path) == ".json" {
		return g.readPlan(root, path)
	}
	data, err := atomicfile.Read(path, planfile.MaxSize)
	if err != nil {
		return failure.New(failure.Usage, "", "read %s: %w", g.From, err)
	}
	if config.IsLoopFile(data) && !hasTasks(path, data) || isPrompt(path) {
		g.Layer, g.Prompt, err = config.ReadLoopFile(path, root)
		if err == nil && g.Prompt == "" && isPrompt(path) {
			err = failure.New(failure.Usage, "write what is to be done", "%s is empty", g.From)
		}
		return err
	}
	return g.readPlan(root, path)
}

// hasTasks: front matter on a plan is the plan's own.
func hasTasks(path string, data []byte) bool {
	f, err := planfile.Decode(path, data)
	return err == nil && len(f.Plan().Tasks) > 0
}

// isPrompt: the customary name of a loop's prompt.
func isPrompt(path string) bool {
	base := strings.ToUpper(filepath.Base(path))
	return strings.HasPrefix(base, "PROMPT") && filepath.Ext(base) != ".JSON" || strings.HasSuffix(base, ".TXT")
}

func (g *Goal) readPlan(root, path string) error {
	f, err := planfile.Load(path)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(resolved(root), resolved(path))
	if err != nil || !filepath.IsLocal(rel) {
		return failure.New(failure.Usage, "move it into the repository: Pawl ticks its tasks there", "the plan %s lies outside of %s", path, root)
	}
	g.Plan, g.Path, g.From = f, filepath.ToSlash(rel), filepath.ToSlash(rel)
	return nil
}

// thePlan is the path of the one plan that lies where the user stands, or else
// at the root.
func thePlan(root, dir string) (string, error) {
	at := dir
	found, err := planfile.Find(at)
	if err == nil && len(found) == 0 {
		at = root
		found, err = planfile.Find(at)
	}
	if err != nil {
		return "", fmt.Errorf("look for a plan: %w", err)
	}
	open := slices.DeleteFunc(slices.Clone(found), func(p string) bool {
		f, err := planfile.Load(filepath.Join(at, filepath.FromSlash(p)))
		return err == nil && f.Plan().Open() == 0
	})
	switch {
	case len(found) == 0:
		return "", failure.New(failure.Usage, `name one, or give a prompt:  pawl run "fix the login test" --gate 'go test ./...'`, "there is no plan here")
	case len(found) == 1:
		return filepath.Join(at, filepath.FromSlash(found[0])), nil
	case len(open) == 1:
		return filepath.Join(at, filepath.FromSlash(open[0])), nil
	}
	return "", failure.New(failure.Usage, "say which one, for example  pawl run "+found[0], "%w", &Several{Plans: found, Dir: at})
}

// Several says that there is more than one plan to choose from.
type Several struct {
	Plans []string // relative to Dir, slashes
	Dir   string   // where they were found, absolute
}

// Error lists them.
func (s *Several) Error() string {
	return "there are several plans here: " + strings.Join(s.Plans, ", ")
}

// withoutSecrets takes the secrets out of the prompt, which is kept and told in each
// turn: those of known shapes, and the values in env (NAME=value).
func (g *Goal) withoutSecrets(env []string) {
	clean := redact.New(env).Prose(g.Prompt)
	g.Prompt, g.HeldSecret = clean, clean != g.Prompt
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// resolved follows the links of a path whose end need not be there yet.
func resolved(path string) string {
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
	}
}

// Title is one line that says what the goal is.
func (g Goal) Title() string {
	if g.Plan != nil {
		return g.From
	}
	return plan.OneLine(g.Prompt, 60)
}
