package arch

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"testing"
)

// qualifiedName matches an identifier of a package, as in gate.Decide.
var qualifiedName = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*)`)

// declarations returns what packages declare, by their names. Two packages of one name share an entry.
func declarations(files []source) map[string]map[string]bool {
	declared := map[string]map[string]bool{}
	for _, s := range files {
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
	return declared
}

// commentFaults finds comments that name what is not there: an identifier of one of our packages, as in
// "see gate.Decide", or a file of the comment's own package, as in "see policy_test.go".
func commentFaults(files []source) []string {
	declared, inFolder := declarations(files), map[string]bool{}
	for _, s := range files {
		inFolder[s.path] = true
	}
	goFile := regexp.MustCompile(`(?:\bsee |\()([a-z][a-z0-9_]+\.go)\b`)
	var faults []string
	for _, s := range files {
		for _, group := range s.ast.Comments {
			text := group.Text()
			for _, m := range qualifiedName.FindAllStringSubmatch(text, -1) {
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

// designFaults finds what the design names and is not there: an identifier in backquotes, as in
// `testdiff.Compare`, and a package, as in "(package sign)".
func designFaults(text string, declared map[string]map[string]bool) (faults []string) {
	for _, code := range regexp.MustCompile("`[^`]+`").FindAllString(text, -1) {
		for _, m := range qualifiedName.FindAllStringSubmatch(code, -1) {
			if ours := declared[m[1]]; ours != nil && !ours[m[2]] {
				faults = append(faults, m[0])
			}
		}
	}
	for _, m := range regexp.MustCompile(`\(package ([a-z]+)\b`).FindAllStringSubmatch(text, -1) {
		if declared[m[1]] == nil {
			faults = append(faults, "package "+m[1])
		}
	}
	return faults
}

func TestDesignNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	declared := declarations(sources(t))
	if faults := designFaults(string(text), declared); faults != nil {
		t.Errorf("docs/DESIGN.md names what does not exist: %q", faults)
	}
	if faults := designFaults("as `sign.Nothing` (package nothing) says, not `sign.Sign` (package sign)", declared); len(faults) != 2 {
		t.Errorf("the test finds %q", faults)
	}
}
