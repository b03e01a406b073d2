package planfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Find returns the plans that `pawl run` considers without an argument, as slash-separated paths
// below root. They match the globs of the formats (Format.Places) and are not a README; folders
// PRD-N come in the order of their numbers. Plans in docs/plans/completed are done. Find only looks
// at names; Load reads the plans.
func Find(root string) ([]string, error) {
	var found []string
	for _, place := range Places() {
		paths, err := expandGlob(root, "", strings.Split(place, "/"))
		if err != nil {
			return nil, err
		}
		found = append(found, paths...)
	}
	return slices.DeleteFunc(found, func(p string) bool {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(p)))
		return err != nil || info.IsDir() != (p == backlogTasks)
	}), nil
}

// Places returns the globs of all formats, each once, in the order of search: tools' folders, then
// files, then the folder of plans.
func Places() []string {
	var places []string
	for _, f := range Formats() {
		places = append(places, f.Places...)
	}
	slices.SortStableFunc(places, func(a, b string) int { return cmp.Compare(placeRank(a), placeRank(b)) })
	return slices.Compact(places)
}

// placeRank returns the rank of a glob: hidden folders of tools come first, docs last.
func placeRank(place string) int {
	switch {
	case strings.HasPrefix(place, "docs/"):
		return 3
	case place == "plan.md":
		return 2
	case strings.HasPrefix(place, "."):
		return 0
	}
	return 1
}

// expandGlob returns the paths below dir that match a glob, one folder after another.
func expandGlob(root, dir string, parts []string) ([]string, error) {
	if len(parts) == 0 {
		return []string{dir}, nil
	}
	if !strings.Contains(parts[0], "*") {
		return expandGlob(root, path.Join(dir, parts[0]), parts[1:])
	}
	there, err := fileNames(root, filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(there, func(a, b string) int { return cmp.Compare(prdNumber(a), prdNumber(b)) })
	var found []string
	for _, name := range there {
		if ok, err := path.Match(parts[0], name); err != nil || !ok || strings.EqualFold(name, "README.md") {
			continue
		}
		below, err := expandGlob(root, path.Join(dir, name), parts[1:])
		if err != nil {
			return nil, err
		}
		found = append(found, below...)
	}
	return found, nil
}

// fileNames returns the sorted names in a folder, none if it does not exist.
func fileNames(folder ...string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(folder...))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for plans: %w", err)
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out, nil
}

// prdNumber returns N of PRD-N, and the largest int for other names.
func prdNumber(folder string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(folder, "PRD-"))
	if err != nil {
		return int(^uint(0) >> 1)
	}
	return n
}

// Load reads the plan at path: a regular file, or a folder of tasks. Errors name the path as given.
func Load(path string) (*File, error) {
	data, err := Read(path)
	if err != nil {
		return nil, err
	}
	return Decode(path, data)
}

// FreeFileName returns an unused file name for a new plan: plan.md if possible.
func FreeFileName(dir string) string {
	name := "plan.md"
	for i := 1; ; i++ {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return name
		}
		if name = "tasks.md"; i > 1 {
			name = fmt.Sprintf("tasks-%d.md", i)
		}
	}
}

// NewCommand returns the command that writes a new plan about a subject in a folder.
func NewCommand(dir, about string) string {
	words := []string{"pawl", "plan", "new", about}
	if name := FreeFileName(dir); name != "plan.md" {
		words = append(words, "--out", name)
	}
	return shell.QuoteCommand(words)
}

// plansHint returns the hint for a path that does not exist: the plans in its folder.
func plansHint(path string) string {
	found, err := Find(filepath.Dir(path))
	if err != nil || len(found) == 0 {
		return "write one: a Markdown list of '- [ ] task' lines; or  pawl plan new 'what you want'"
	}
	const most = 5
	for i, p := range found {
		found[i] = clean(filepath.Join(filepath.Dir(path), filepath.FromSlash(p)))
	}
	hint := "there is " + strings.Join(found[:min(len(found), most)], ", ")
	if len(found) > most {
		hint += ", …"
	}
	return hint
}

// Read returns the bytes of the plan at path, which may contain no tasks.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.New(failure.Usage, plansHint(path), "there is no plan %s", clean(path))
	case err != nil:
		return nil, fmt.Errorf("read plan %s: %w", clean(path), err)
	case info.IsDir():
		return readFolder(path)
	case !info.Mode().IsRegular():
		return nil, failure.New(failure.Usage, "name the file itself", "%s is not a regular file (%s)", clean(path), info.Mode().Type())
	case info.Size() > MaxSize:
		return nil, newInvalid(path, tooLarge)
	}
	data, err := atomicfile.Read(path, MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read plan %s: %w", clean(path), err)
	}
	return data, nil
}
