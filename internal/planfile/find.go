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

// Find lists the plans that `pawl run` considers when it is given none, as
// slash-separated paths below root: those in the usual places of each format
// (Format.Places; folders PRD-N in the order of their numbers), without a README.
// What is in docs/plans/completed is done. It looks at names only: whether they can
// be read, and have open tasks, Load tells.
func Find(root string) ([]string, error) {
	var found []string
	for _, place := range Places() {
		paths, err := expand(root, "", strings.Split(place, "/"))
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

// Places are the globs of the usual places of plans, each once, in the order in which
// they are looked at: folders of tools, then files, then the folder of plans.
func Places() []string {
	var places []string
	for _, f := range Formats() {
		places = append(places, f.Places...)
	}
	slices.SortStableFunc(places, func(a, b string) int { return cmp.Compare(placeRank(a), placeRank(b)) })
	return slices.Compact(places)
}

// placeRank puts hidden folders of tools first and docs last.
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

// expand lists what matches a glob below dir, one folder after another.
func expand(root, dir string, parts []string) ([]string, error) {
	if len(parts) == 0 {
		return []string{dir}, nil
	}
	if !strings.Contains(parts[0], "*") {
		return expand(root, path.Join(dir, parts[0]), parts[1:])
	}
	there, err := names(root, filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(there, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	var found []string
	for _, name := range there {
		if ok, err := path.Match(parts[0], name); err != nil || !ok || strings.EqualFold(name, "README.md") {
			continue
		}
		below, err := expand(root, path.Join(dir, name), parts[1:])
		if err != nil {
			return nil, err
		}
		found = append(found, below...)
	}
	return found, nil
}

// names are the names in a folder, sorted; none if there is no such folder.
func names(folder ...string) ([]string, error) {
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

// number is N of PRD-N, and after all numbers if it is none.
func number(folder string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(folder, "PRD-"))
	if err != nil {
		return int(^uint(0) >> 1)
	}
	return n
}

// Load reads the plan at path, which stands in errors as it is given. What is
// neither a regular file in the end nor a folder of tasks is refused.
func Load(path string) (*File, error) {
	data, err := Read(path)
	if err != nil {
		return nil, err
	}
	return Decode(path, data)
}

// FreeName is the name of a file for another plan, which is not in the folder yet: plan.md
// where it can be.
func FreeName(dir string) string {
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

// NewCommand is what writes another plan about something, as it is typed in a folder.
func NewCommand(dir, about string) string {
	words := []string{"pawl", "plan", "new", about}
	if name := FreeName(dir); name != "plan.md" {
		words = append(words, "--out", name)
	}
	return shell.QuoteCommand(words)
}

// plansBeside is the hint where there is no file of that name: the plans in its folder.
func plansBeside(path string) string {
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

// Read returns the bytes of the plan at path, in which there may be no task.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.New(failure.Usage, plansBeside(path), "there is no plan %s", clean(path))
	case err != nil:
		return nil, fmt.Errorf("read plan %s: %w", clean(path), err)
	case info.IsDir():
		return readFolder(path)
	case !info.Mode().IsRegular():
		return nil, failure.New(failure.Usage, "name the file itself", "%s is not a regular file (%s)", clean(path), info.Mode().Type())
	case info.Size() > MaxSize:
		return nil, invalid(path, tooLarge)
	}
	data, err := atomicfile.Read(path, MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read plan %s: %w", clean(path), err)
	}
	return data, nil
}
