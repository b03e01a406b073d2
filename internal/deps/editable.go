package deps

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Editable is an editable install of a project in a virtual environment outside of it:
// gates that use it import the code at the project's own path, in any other checkout too.
type Editable struct {
	Venv string // folder of the virtual environment
	Gate string // name of the gate that uses it
}

const maxLinkFile = 64 << 10 // bytes of a .pth file, which holds a few paths

// EditableInstalls finds those that gates use: by the path of a program, or as the active
// environment.
func EditableInstalls(root, active string, gates []gate.Gate) []Editable {
	var all []Editable
	seen := map[string]bool{}
	for _, g := range gate.Commands(gates) {
		venvs := []string{active}
		for _, word := range Words(g) {
			if dir := filepath.Dir(word); filepath.IsAbs(word) && filepath.Base(dir) == "bin" {
				venvs = append(venvs, filepath.Dir(dir))
			}
		}
		for _, venv := range venvs {
			if venv != "" && !seen[venv] && !isBelow(root, venv) && leadsTo(venv, root) {
				seen[venv] = true
				all = append(all, Editable{Venv: venv, Gate: g.Name})
			}
		}
	}
	return all
}

func isBelow(root, path string) bool {
	below, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(below)
}

// leadsTo reports whether what is installed in a virtual environment leads to a project.
func leadsTo(venv, root string) bool {
	links, _ := filepath.Glob(filepath.Join(venv, "lib", "python*", "site-packages", "*.pth")) // the pattern is ours
	finders, _ := filepath.Glob(filepath.Join(venv, "lib", "python*", "site-packages", "__editable__*.py"))
	for _, file := range append(links, finders...) {
		if info, err := os.Stat(file); err != nil || info.Size() > maxLinkFile {
			continue
		}
		data, err := atomicfile.Read(file, maxLinkFile)
		if err != nil {
			continue
		}
		for _, word := range strings.FieldsFunc(string(data), func(r rune) bool { return strings.ContainsRune("\n\r'\"", r) }) {
			if filepath.IsAbs(word) && isBelow(root, word) {
				return true
			}
		}
	}
	return false
}
