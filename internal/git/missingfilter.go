package git

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// MissingFilter is a filter program that git must run on files and that is not installed.
type MissingFilter struct {
	Filter  string // name in the attributes, such as lfs
	Program string
	File    string // one of the files that need it
}

// MissingFilter returns a filter that the repository's files need (filter.NAME.required) and whose
// program is not found. Without it git can neither read the work tree nor create a checkout.
func (r *Repo) MissingFilter(ctx context.Context) (m MissingFilter, missing bool, err error) {
	settings, err := r.Converters(ctx)
	if err != nil {
		return m, false, err
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		name, isFilter := strings.CutPrefix(key, "filter.")
		dot := strings.LastIndexByte(name, '.')
		if !isFilter || dot < 0 || !slices.Contains([]string{"clean", "smudge", "process"}, name[dot+1:]) {
			continue
		}
		if name = name[:dot]; !isTrue(settings["filter."+name+".required"]) {
			continue
		}
		program, _, _ := strings.Cut(strings.TrimSpace(settings[key]), " ")
		if program == "" || strings.ContainsAny(program, `"'$\`) { // needs a shell to find it
			continue
		}
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		out, err := r.run(ctx, call{args: []string{"ls-files", "-z", "--", ":(top,attr:filter=" + name + ")"}})
		if err != nil {
			return m, false, fmt.Errorf("list the files of filter %s: %w", name, err)
		}
		if files := splitNul(out); len(files) > 0 {
			return MissingFilter{Filter: name, Program: program, File: files[0]}, true, nil
		}
	}
	return m, false, nil
}

// isTrue reports whether git reads a value as true.
func isTrue(value string) bool {
	return slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(value))
}
