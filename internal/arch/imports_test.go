package arch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// row is one line of a policy: the patterns on the left of "<" and on its right.
type row struct{ left, right []string }

func rows(policy string) []row {
	var all []row
	for line := range strings.Lines(policy) {
		left, right, ok := strings.Cut(line, "<")
		if left = strings.TrimSpace(left); !ok || strings.HasPrefix(left, "#") {
			continue
		}
		all = append(all, row{strings.Fields(left), strings.Fields(right)})
	}
	return all
}

// covers reports whether one of the patterns stands for name: the name itself, or
// what it begins with, followed by "*".
func covers(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if head, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(name, head)
		}
		return p == name
	})
}

// folderFaults finds imports of one folder by another that the policy does not
// name. Tests may import what they like.
func folderFaults(files []source) []string {
	policy := rows(imports)
	var faults []string
	for _, s := range files {
		if s.test || s.folder == "bench" || strings.HasPrefix(s.folder, "tools/") {
			continue
		}
		i := slices.IndexFunc(policy, func(r row) bool { return covers(r.left, s.folder) })
		if i < 0 {
			faults = append(faults, fmt.Sprintf("%s: folder %q has no line in the import policy", s.path, s.folder))
			continue
		}
		for _, spec := range s.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			p, ours := strings.CutPrefix(p, module+"/")
			p = strings.TrimPrefix(p, "internal/")
			if ours && (forTests(p) || !covers(policy[i].right, p) && p != forAll) {
				faults = append(faults, fmt.Sprintf("%s: %s may not import %s", s.at(spec.Pos()), s.folder, p))
			}
		}
	}
	return faults
}

// packageFaults finds imports of packages from elsewhere: impure ones in core,
// and other modules' where the policy does not name the folder.
func packageFaults(files []source) []string {
	policy, core := rows(modules), strings.Fields(pure)
	var faults []string
	for _, s := range files {
		if s.test || s.folder == "bench" || strings.HasPrefix(s.folder, "tools/") {
			continue
		}
		for _, spec := range s.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			switch {
			case strings.HasPrefix(p, module+"/"):
			case standard(p):
				if strings.HasPrefix(s.folder, "core/") && !slices.Contains(core, p) {
					faults = append(faults, fmt.Sprintf("%s: core is pure and may not import %q", s.at(spec.Pos()), p))
				}
			case !mayImport(policy, s.folder, p):
				faults = append(faults, fmt.Sprintf("%s: %s may not import %q", s.at(spec.Pos()), s.folder, p))
			}
		}
	}
	return faults
}

// standard tells a package of the standard library: its first element has no dot.
func standard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

func mayImport(policy []row, folder, p string) bool {
	return slices.ContainsFunc(policy, func(r row) bool {
		head, below := strings.CutSuffix(r.left[0], "/...")
		match := p == head || below && strings.HasPrefix(p, head+"/")
		return match && covers(r.right, folder)
	})
}

func TestImportsFollowThePolicy(t *testing.T) {
	t.Parallel()
	files := sources(t)
	report(t, folderFaults(files))
	report(t, packageFaults(files))
}

func report(t *testing.T, faults []string) {
	t.Helper()
	for _, f := range faults {
		t.Error(f)
	}
}

// A line about a folder that is gone would let the next one of that name in.
func TestThePolicyNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	var folders, used []string
	for _, s := range sources(t) {
		folders = append(folders, s.folder)
		for _, spec := range s.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			used = append(used, p)
		}
	}
	there := func(pattern string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return covers([]string{pattern}, f) })
	}
	for _, r := range slices.Concat(rows(imports), rows(modules), rows(calls)) {
		for _, pattern := range r.right {
			if !there(pattern) {
				t.Errorf("the policy for %s names %s, which is not there", strings.Join(r.left, " "), pattern)
			}
		}
	}
	for _, r := range rows(imports) {
		for _, pattern := range r.left {
			if !there(pattern) {
				t.Errorf("the policy has a line for %s, which is not there", pattern)
			}
		}
	}
	for _, r := range rows(modules) {
		if !slices.ContainsFunc(used, func(p string) bool { return mayImport([]row{{r.left, []string{"*"}}}, "x", p) }) {
			t.Errorf("the policy has a line for %s, which nobody imports", r.left[0])
		}
	}
}
