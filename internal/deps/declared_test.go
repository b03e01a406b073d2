package deps_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/deps"
)

func TestDeclaredIgnoresLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, was, now string
		same                 bool
	}{
		{"a script", "package.json", `{"scripts": {"test": "tape a.js"}}`, `{"scripts": {"test": "tape 'a/*.js'"}}`, true},
		{"a version and how it is written", "web/package.json", `{"version": "1", "dependencies": {"a": "1"}}`, "{\n\"dependencies\": {\"a\": \"1\"},\n\"version\": \"2\"}", true},
		{"a dependency", "package.json", `{"dependencies": {"a": "1"}}`, `{"dependencies": {"a": "2"}}`, false},
		{"a tool", "package.json", `{}`, `{"devDependencies": {"tape": "5"}}`, false},
		{"an override", "package.json", `{}`, `{"overrides": {"a": "5"}}`, false},
		{"one that is no JSON", "package.json", `{}`, `{`, false},
		{"a marker", "pyproject.toml", "[tool.pytest.ini_options]\nmarkers = []\n", "[tool.pytest.ini_options]\nmarkers = ['slow']\n", true},
		{"a dependency of Python's", "pyproject.toml", "[project]\ndependencies = []\n", "[project]\ndependencies = ['a']\n", false},
		{"a group", "pyproject.toml", "", "[dependency-groups]\ntest = ['pytest']\n", false},
		{"of another packager", "pyproject.toml", "[tool.poetry.dependencies]\na = '1'\n", "[tool.poetry.dependencies]\na = '2'\n", false},
		{"a description", "pyproject.toml", "[project]\nname = 'a'\ndescription = 'x'\n", "[project]\nname = 'a'\ndescription = 'y'\nversion = '2'\n", true},
		{"a lock file", "package-lock.json", `{"version": "1"}`, `{"version": "2"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			was, now := deps.Declared(c.file, []byte(c.was)), deps.Declared(c.file, []byte(c.now))
			if same := string(was) == string(now); same != c.same {
				t.Errorf("the same: %t; %s, %s", same, was, now)
			}
		})
	}
}
