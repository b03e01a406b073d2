package work

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/pawl-dev/pawl/internal/regex"
)

// DeclaresPython reports whether a file of this name may declare dependencies of a Python program, see
// DependsOn.
func DeclaresPython(file string) bool {
	base := path.Base(file)
	return base == "pyproject.toml" || strings.HasPrefix(base, "requirements") && path.Ext(base) == ".txt"
}

// DependsOn reports whether such a file declares a package with the name of a module.
func DependsOn(file string, content []byte, module string) bool {
	name := regex.New(`(?i)^\s*` + strings.ReplaceAll(regexp.QuoteMeta(module), "_", "[-_.]") + `\s*(?:$|[\[=<>!~;@#,])`)
	if path.Base(file) != "pyproject.toml" {
		return slices.ContainsFunc(strings.Split(string(content), "\n"), name.MatchString)
	}
	var p struct {
		Project struct {
			Dependencies []string            `toml:"dependencies"`
			Optional     map[string][]string `toml:"optional-dependencies"`
		} `toml:"project"`
		Tool struct {
			Poetry struct {
				Dependencies map[string]any `toml:"dependencies"`
			} `toml:"poetry"`
		} `toml:"tool"`
	}
	if toml.Unmarshal(content, &p) != nil {
		return false
	}
	all := slices.Clone(p.Project.Dependencies)
	for _, some := range p.Project.Optional {
		all = append(all, some...)
	}
	for one := range p.Tool.Poetry.Dependencies {
		all = append(all, one)
	}
	return slices.ContainsFunc(all, name.MatchString)
}
