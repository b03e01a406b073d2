package work_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/work"
)

func TestDependenciesAreFound(t *testing.T) {
	t.Parallel()
	const project = "[project]\nname = \"shop\"\ndependencies = [\"tomlkit>=0.12\"]\n\n[project.optional-dependencies]\ntest = [\"pytest\"]\n\n[tool.poetry.dependencies]\nhttp-client = \"1\"\n\n[tool.setuptools]\npy-modules = [\"shop\"]\n"
	for _, c := range []struct {
		file, content, module string
		want                  bool
	}{
		{"requirements.txt", "# what we need\ntomlkit==0.12.4\n", "tomlkit", true},
		{"requirements-dev.txt", "TomlKit[x]\r\n", "tomlkit", true},
		{"requirements.txt", "http-client ~= 1\n", "http_client", true},
		{"requirements.txt", "tomlkit-extras==1\n", "tomlkit", false},
		{"requirements.txt", "-r tomlkit.txt\n# tomlkit\n", "tomlkit", false},
		{"pyproject.toml", project, "tomlkit", true},
		{"pyproject.toml", project, "pytest", true},
		{"pyproject.toml", project, "http_client", true},
		{"pyproject.toml", project, "shop", false},
		{"pyproject.toml", "no TOML", "no", false},
	} {
		if got := work.DependsOn(c.file, []byte(c.content), c.module); got != c.want || !work.DeclaresPython(c.file) {
			t.Errorf("%s depends on %s: %v", c.file, c.module, got)
		}
	}
}
