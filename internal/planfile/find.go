package planfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Find lists the plans that `pawl run` considers when it is given none, as
// slash-separated paths below root: .ralph/PRD-*/plan.md (in the order of their
// numbers), prd.json, feature_list.json, plan.md and docs/plans/*.md without its
// README; what is in docs/plans/completed is done. It looks at names only:
// whether they can be read, and have open tasks, Load tells.
func Find(root string) ([]string, error) {
	folders, err := names(root, ".ralph")
	if err != nil {
		return nil, err
	}
	pages, err := names(root, "docs", "plans")
	if err != nil {
		return nil, err
	}
	var found []string
	slices.SortStableFunc(folders, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	for _, name := range folders {
		if strings.HasPrefix(name, "PRD-") {
			found = append(found, path.Join(".ralph", name, "plan.md"))
		}
	}
	found = append(found, "prd.json", "feature_list.json", "plan.md")
	for _, name := range pages {
		if extension(name) == ".md" && !strings.EqualFold(name, "README.md") {
			found = append(found, path.Join("docs", "plans", name))
		}
	}
	return slices.DeleteFunc(found, func(p string) bool {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(p)))
		return err != nil || info.IsDir()
	}), nil
}

// names are the names in a folder, sorted; none if there is no such folder.
func names(folder ...string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(folder...))
	if errors.Is(err, fs.ErrNotExist) {
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
// not a regular file in the end (a folder, a pipe, a device) is refused.
func Load(path string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.New(failure.Usage, "pawl run without a file takes the plan it finds", "there is no plan %s", clean(path))
	case err != nil:
		return nil, fmt.Errorf("read plan %s: %w", clean(path), err)
	case info.IsDir():
		return nil, failure.New(failure.Usage, "name the file in it", "%s is a folder, not a plan", clean(path))
	case !info.Mode().IsRegular():
		return nil, failure.New(failure.Usage, "name the file itself", "%s is not a regular file (%s)", clean(path), info.Mode().Type())
	case info.Size() > MaxSize:
		return nil, invalid(path, tooLarge)
	}
	file, err := atomicfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read plan %s: %w", clean(path), err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read plan %s: %w", clean(path), err)
	}
	return Decode(path, data)
}
