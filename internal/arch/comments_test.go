package arch

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"testing"
)

// commentFaults finds comments that name what is not there: an identifier of one of our packages, as in
// "see gate.Decide", or a file of the comment's own package, as in "see policy_test.go".
func commentFaults(files []source) []string {
	declared := map[string]map[string]bool{} // by package name; two packages of one name share an entry
	inFolder := map[string]bool{}
	for _, s := range files {
		inFolder[s.path] = true
		names := declared[s.ast.Name.Name]
		if names == nil {
			names = map[string]bool{}
			declared[s.ast.Name.Name] = names
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			}
			return true
		})
	}
	qualified := regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*)`)
	goFile := regexp.MustCompile(`(?:\bsee |\()([a-z][a-z0-9_]+\.go)\b`)
	var faults []string
	for _, s := range files {
		for _, group := range s.ast.Comments {
			text := group.Text()
			for _, m := range qualified.FindAllStringSubmatch(text, -1) {
				if ours := declared[m[1]]; ours != nil && !ours[m[2]] && s.imports()[m[1]] == "" {
					faults = append(faults, fmt.Sprintf("%s: the comment names %s, which does not exist", s.at(group.Pos()), m[0]))
				}
			}
			for _, m := range goFile.FindAllStringSubmatch(text, -1) {
				if !inFolder[path.Join(path.Dir(s.path), m[1])] {
					faults = append(faults, fmt.Sprintf("%s: the comment names %s, which does not exist", s.at(group.Pos()), m[1]))
				}
			}
		}
	}
	return slices.Compact(faults)
}

func TestCommentsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	report(t, commentFaults(sources(t)))
}
