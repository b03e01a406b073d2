package launch

import (
	"cmp"
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
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/tracker"
)

// Goal is what the user asked for, without options.
type Goal struct {
	Prompt string         // text of the goal; "" for a plan alone
	Plan   *planfile.File // nil without a plan
	Path   string         // of the plan, relative to the root, slashes
	Layer  config.Layer   // options in the loop file's front matter
	From   string         // what the user named, for display: "plan.md", "prompt"

	HadSecret bool // a secret was removed from the prompt
}

// ReadGoal interprets the arguments of `pawl run`: none (the plan in this folder), one file
// (a plan, a loop file, or a prompt), or a prompt. planPath is the value of --plan, or
// "".
func ReadGoal(root, dir string, words []string, planPath string) (Goal, error) {
	g := Goal{From: "prompt"}
	switch file, err := fileArg(dir, words); {
	case err != nil:
		return Goal{}, err
	case len(words) == 1 && tracker.IsUnsupportedURL(words[0]):
		return Goal{}, failure.New(failure.Usage, "to use it as a prompt:  pawl run \"work on "+words[0]+"\"; [tracker] command in pawl.toml connects other trackers than GitHub",
			"Pawl cannot read this issue or change: %s", words[0])
	case file != "":
		if err := g.readFile(root, dir, file); err != nil {
			return Goal{}, err
		}
	case len(words) > 0:
		if g.Prompt = strings.TrimSpace(strings.Join(words, " ")); g.Prompt == "" {
			return Goal{}, failure.New(failure.Usage, "say what to do, or name a plan", "the prompt is empty")
		}
	case planPath == "":
		found, err := findPlan(root, dir)
		if err != nil {
			return Goal{}, err
		}
		planPath = found
	}
	if planPath != "" {
		if err := g.readPlan(root, dir, AbsPath(dir, planPath)); err != nil {
			return Goal{}, err
		}
	}
	return g, nil
}

// maxFileName bounds the name of a file, in bytes.
const maxFileName = 255

// fileArg returns the path of the one argument that names a file, or "". A single word
// that looks like a path and names no file is an error, not a prompt.
func fileArg(dir string, words []string) (string, error) {
	if err := refuseSeveralFiles(dir, words); err != nil {
		return "", err
	}
	if len(words) != 1 || strings.TrimSpace(words[0]) == "" || len(filepath.Base(words[0])) > maxFileName {
		return "", nil
	}
	word := words[0]
	path := AbsPath(dir, word)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		return path, nil
	case err == nil && info.IsDir():
		if _, err := planfile.Read(path); err == nil {
			return path, nil
		}
		return "", folderError(word, path)
	case err == nil:
		return "", failure.New(failure.Usage, "", "%s is not a regular file", word)
	case !errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(word, " \n"):
		return "", failure.New(failure.Usage, "", "read %s: %w", word, err)
	}
	if word == "-" {
		return "", failure.New(failure.Usage, `name a file, or give it in words:  pawl run "$(cat)"`, "a goal cannot come from standard input")
	}
	if isPlanName(word) || completeName(path) != "" {
		return "", missingFileError(dir, word)
	}
	return "", nil
}

// completeName returns the name of a possible plan that equals the last element of a path except
// for its extension, or "".
func completeName(path string) string {
	for _, name := range planFilesIn(filepath.Dir(path)) {
		if strings.EqualFold(strings.TrimSuffix(name, filepath.Ext(name)), filepath.Base(path)) {
			return name
		}
	}
	return ""
}

// folderError says that a word names a folder that is not a plan, and names a plan in it.
func folderError(word, path string) error {
	hint := "name a plan in it, or a prompt in words"
	for _, name := range planFilesIn(path) {
		if f, err := planfile.Load(filepath.Join(path, name)); err == nil && f.Plan().Open() > 0 {
			hint = shell.QuoteCommand([]string{"pawl", "run", filepath.Join(word, name)})
			break
		}
	}
	return failure.New(failure.Usage, hint, "%s is a folder", word)
}

// isPlanName reports whether a word looks like the name of a plan, whether it exists or not.
func isPlanName(word string) bool {
	ext := filepath.Ext(word)
	return !strings.ContainsAny(word, " \n") && (ext == ".md" || ext == ".json" || ext == ".txt")
}

// missingFileError says that a word looks like the name of a plan, but there is no such file.
func missingFileError(dir, word string) error {
	hint := "name an existing plan or loop file, or give a prompt in words"
	path := AbsPath(dir, word)
	if near := cmp.Or(completeName(path), failure.Nearest(filepath.Base(word), planFilesIn(filepath.Dir(path)))); near != "" {
		hint = fmt.Sprintf("did you mean %s?", filepath.Join(filepath.Dir(word), near))
	}
	if above := fileAbove(dir, word); above != "" {
		hint = "it is in a folder above: " + above
	}
	return failure.New(failure.Usage, hint, "there is no file %s", word)
}

// fileAbove returns the relative path of a file of that name in the nearest parent folder, up
// to the root of the repository, or "".
func fileAbove(dir, word string) string {
	if filepath.IsAbs(word) {
		return ""
	}
	up := ""
	for range 20 {
		if _, err := os.Lstat(filepath.Join(dir, up, ".git")); err == nil {
			return ""
		}
		up = filepath.Join(up, "..")
		if info, err := os.Stat(filepath.Join(dir, up, word)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(up, word)
		}
	}
	return ""
}

// planFilesIn lists the files in a folder that may be a plan or a prompt.
func planFilesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the folder is missing
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.Type().IsRegular() && (ext == ".md" || ext == ".json" || ext == ".txt") {
			names = append(names, e.Name())
		}
	}
	return names
}

// refuseSeveralFiles returns an error if all arguments name files, or if words follow the name
// of a plan.
func refuseSeveralFiles(dir string, words []string) error {
	if len(words) < 2 {
		return nil
	}
	missing := ""
	for _, word := range words {
		switch {
		case namesFile(dir, word):
		case isPlanName(word):
			missing = word
		case isPlanName(words[0]) && namesFile(dir, words[0]):
			return failure.New(failure.Usage,
				fmt.Sprintf("write the work that remains into %s, then  pawl run %[1]s; to use the words as a prompt:  pawl run %q", words[0], strings.Join(words, " ")),
				"a plan takes no further words: %s %s", words[0], strings.Join(words[1:], " "))
		default:
			return nil
		}
	}
	if missing != "" {
		return missingFileError(dir, missing)
	}
	all := strings.Join(words, " ")
	return failure.New(failure.Usage,
		fmt.Sprintf("pawl run %s, and then the next; to add a plan to a prompt, use --plan; to use the words as a prompt:  pawl run %q", words[0], all),
		"these are %d files, and a loop has one goal: %s", len(words), all)
}

// namesFile reports whether a word names a regular file.
func namesFile(dir, word string) bool {
	if word == "" || len(filepath.Base(word)) > maxFileName {
		return false
	}
	info, err := os.Stat(AbsPath(dir, word))
	return err == nil && info.Mode().IsRegular()
}

func (g *Goal) readFile(root, dir, path string) error {
	g.From = filepath.Base(path)
	if err := refuseSessionFile(root, path); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() || filepath.Ext(path) == ".json" {
		return g.readPlan(root, dir, path)
	}
	data, err := atomicfile.Read(path, planfile.MaxSize)
	if err != nil {
		return failure.New(failure.Usage, "", "read %s: %w", g.From, err)
	}
	asPlan, err := planfile.Decode(path, data) // the front matter of a plan with tasks is the plan's
	hasTasks := err == nil && len(asPlan.Plan().Tasks) > 0
	if config.IsLoopFile(data) && !hasTasks || isPrompt(path) {
		g.Layer, g.Prompt, err = config.ReadLoopFile(path, root)
		if err == nil && g.Prompt == "" && isPrompt(path) {
			err = failure.New(failure.Usage, "write what to do into it", "%s is empty", g.From)
		}
		return err
	}
	return g.readPlan(root, dir, path)
}

// refuseSessionFile refuses another tool's state file of a loop in a session, which is not a
// plan.
func refuseSessionFile(root, path string) error {
	f, file, _ := statefile.FormatOfPath(path, statefile.Place{Root: root})
	if f == nil || file != path || f.Name() == statefile.FeatureListName || f.Name() == statefile.PlanLoopName {
		return nil
	}
	name := statefile.DisplayPath(root, path)
	return failure.New(failure.Usage, fmt.Sprintf("touch %s && claude;  in the session it is  ! pawl start %[1]s;  from a terminal give the prompt itself:  pawl run 'PROMPT' --gate 'COMMAND'", name),
		"%s is the file of a loop in a session (%s)", name, f.Name())
}

// isPrompt reports whether a file has the usual name of a loop's prompt.
func isPrompt(path string) bool {
	base := strings.ToUpper(filepath.Base(path))
	return strings.HasPrefix(base, "PROMPT") && filepath.Ext(base) != ".JSON" || strings.HasSuffix(base, ".TXT")
}

func (g *Goal) readPlan(root, dir, path string) error {
	f, err := planfile.Load(path)
	invalid, ok := errors.AsType[*planfile.Invalid](err)
	name, outside := filepath.Rel(dir, path) // as it is typed in that folder
	if outside != nil {
		name = path
	}
	if ok {
		err = invalid.WithName(name)
	}
	if ok && invalid.NoTasks() && filepath.Ext(path) != ".json" {
		return failure.New(failure.Usage, planfile.NewCommand(dir, name)+" writes it as tasks; "+shell.QuoteCommand([]string{"pawl", "run", "do what " + name + " says"})+" runs it as one goal", "%w", err)
	}
	if err != nil {
		return err
	}
	rel, inside := relativeTo(root, path)
	if !inside {
		return failure.New(failure.Usage, "move it into the repository: Pawl ticks its tasks there", "the plan %s is outside %s", path, root)
	}
	g.Plan, g.Path, g.From = f, rel, rel
	return nil
}

// findPlan returns the one plan in the current folder, or else in the root.
func findPlan(root, dir string) (string, error) {
	at := dir
	found, err := planfile.Find(at)
	if err == nil && len(found) == 0 {
		at = root
		found, err = planfile.Find(at)
	}
	if err != nil {
		return "", fmt.Errorf("find plan: %w", err)
	}
	open := slices.DeleteFunc(slices.Clone(found), func(p string) bool {
		f, err := planfile.Load(filepath.Join(at, filepath.FromSlash(p)))
		return err == nil && f.Plan().Open() == 0
	})
	switch {
	case len(found) == 0:
		return "", noPlanError(dir)
	case len(found) == 1:
		return filepath.Join(at, filepath.FromSlash(found[0])), nil
	case len(open) == 1:
		return filepath.Join(at, filepath.FromSlash(open[0])), nil
	}
	return "", failure.New(failure.Usage, "say which one, for example  pawl run "+found[0], "%w", &SeveralPlansError{Plans: found, Dir: at})
}

// noPlanError says what to run if no file has the usual name of a plan. It names a Markdown file
// with open tasks, which is used only if the user names it.
func noPlanError(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name := e.Name()
		if !strings.EqualFold(filepath.Ext(name), ".md") {
			continue
		}
		if f, failed := planfile.Load(filepath.Join(dir, name)); failed == nil && f.Plan().Open() > 0 {
			return failure.New(failure.Usage, fmt.Sprintf("%s has open tasks (%d): %s", name, f.Plan().Open(), shell.QuoteCommand([]string{"pawl", "run", name})), "no file here has a usual plan name, such as plan.md")
		}
	}
	if err != nil {
		return fmt.Errorf("find plan: %w", err)
	}
	return failure.New(failure.Usage, `name one, or give a prompt:  pawl run "fix the login test" --gate 'go test ./...'`, "there is no plan here")
}

// SeveralPlansError means that there are several plans to choose from.
type SeveralPlansError struct {
	Plans []string // relative to Dir, slashes
	Dir   string   // where they were found, absolute
}

// Error lists the plans.
func (s *SeveralPlansError) Error() string {
	return "there are several plans here: " + strings.Join(s.Plans, ", ")
}

// AbsPath returns a path relative to dir as an absolute path.
func AbsPath(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Title returns the goal in one line.
func (g Goal) Title() string {
	if g.Plan != nil {
		return g.From
	}
	return plan.OneLine(g.Prompt, 60)
}
