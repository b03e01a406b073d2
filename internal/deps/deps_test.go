package deps_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
)

func TestMissingDependenciesAreFound(t *testing.T) {
	t.Parallel()
	const needsMocha = `{"devDependencies": {"mocha": "10"}}`
	for name, c := range map[string]struct {
		files map[string]string
		gate  gate.Gate
		want  string // folder: command
	}{
		"npm":                      {map[string]string{"package.json": needsMocha, "package-lock.json": ""}, gate.Gate{Command: "npm test"}, "node_modules: npm ci"},
		"no lock file":             {map[string]string{"package.json": needsMocha}, gate.Gate{Command: "npx mocha"}, "node_modules: npm install"},
		"pnpm":                     {map[string]string{"package.json": needsMocha, "pnpm-lock.yaml": ""}, gate.Gate{Argv: []string{"pnpm", "test"}}, "node_modules: pnpm install --frozen-lockfile"},
		"yarn":                     {map[string]string{"package.json": needsMocha, "yarn.lock": ""}, gate.Gate{Command: "yarn test"}, "node_modules: yarn install --frozen-lockfile"},
		"workspaces":               {map[string]string{"package.json": `{"workspaces": ["apps/*"]}`, "apps/a/package.json": needsMocha}, gate.Gate{Command: "npm test -ws"}, "node_modules: npm install"},
		"workspaces of yarn":       {map[string]string{"package.json": `{"workspaces": {"packages": ["a"]}}`, "a/package.json": needsMocha}, gate.Gate{Command: "npm test -ws"}, "node_modules: npm install"},
		"workspaces need nothing":  {map[string]string{"package.json": `{"workspaces": ["apps/*"]}`, "apps/a/package.json": `{"name": "a"}`}, gate.Gate{Command: "cd apps/a && npm test"}, ""},
		"in a folder":              {map[string]string{"web/package.json": needsMocha, "web/package-lock.json": ""}, gate.Gate{Command: "npm test", Dir: "web"}, "web/node_modules: cd web && npm ci"},
		"installed above":          {map[string]string{"web/package.json": needsMocha, "node_modules/a": ""}, gate.Gate{Command: "npm test", Dir: "web"}, ""},
		"installed":                {map[string]string{"package.json": needsMocha, "node_modules/a": ""}, gate.Gate{Command: "npm test"}, ""},
		"plug'n'play":              {map[string]string{"package.json": needsMocha, ".pnp.cjs": ""}, gate.Gate{Command: "yarn test"}, ""},
		"nothing to install":       {map[string]string{"package.json": `{"scripts": {}}`}, gate.Gate{Command: "npm test"}, ""},
		"a script of such a name":  {map[string]string{"package.json": needsMocha, "package-lock.json": ""}, gate.Gate{Command: "npm run ci"}, "node_modules: npm ci"},
		"the gate installs it":     {map[string]string{"package.json": needsMocha}, gate.Gate{Command: "npm ci && npm test"}, ""},
		"another language":         {map[string]string{"package.json": needsMocha}, gate.Gate{Command: "go test ./..."}, ""},
		"virtual environment":      {map[string]string{"requirements.txt": ""}, gate.Gate{Command: ". .venv/bin/activate && pytest"}, ".venv: python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"},
		"virtual environment, uv":  {map[string]string{"uv.lock": ""}, gate.Gate{Command: "./.venv/bin/pytest"}, ".venv: uv sync"},
		"virtual environment made": {map[string]string{".venv/bin/pytest": ""}, gate.Gate{Command: ".venv/bin/pytest"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, root, c.files)
			got := ""
			for _, m := range deps.Find(root, []gate.Gate{c.gate, c.gate}) {
				got += m.Folder + ": " + m.Command
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What an installer wrote of the checkout's own path leads into the copy there: an
// editable install would have the old checkout's code run.
func TestACopyLeadsIntoItsOwnCheckout(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	const site = ".venv/lib/site-packages/"
	write(t, from, map[string]string{
		".venv/bin/pytest":                  "#!FROM/.venv/bin/python\n# FROM-2/x\n",
		site + "__editable__.calc.pth":      "FROM/src\n",
		site + "__editable___c_finder.py":   "MAPPING = {'calc': 'FROM/src/calc'}\n",
		site + "calc.py":                    "# FROM/src\n",
		".venv/lib/__pycache__/scratch.pyc": "FROM",
	})
	if err := os.Symlink(filepath.Join(from, "src"), filepath.Join(from, ".venv", "linked")); err != nil {
		t.Skip(err)
	}
	if err := (deps.Copier{From: from, To: to}).Copy(t.Context(), ".venv"); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, file := range []string{".venv/bin/pytest", site + "__editable__.calc.pth", site + "__editable___c_finder.py", site + "calc.py", ".venv/lib/__pycache__/scratch.pyc"} {
		data, _ := os.ReadFile(filepath.Join(to, file))
		got[file] = strings.NewReplacer(from, "FROM", to, "TO").Replace(string(data))
	}
	want := map[string]string{
		".venv/bin/pytest":                  "#!TO/.venv/bin/python\n# FROM-2/x\n",
		site + "__editable__.calc.pth":      "TO/src\n",
		site + "__editable___c_finder.py":   "MAPPING = {'calc': 'TO/src/calc'}\n",
		site + "calc.py":                    "# FROM/src\n",
		".venv/lib/__pycache__/scratch.pyc": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if link, err := os.Readlink(filepath.Join(to, ".venv", "linked")); err != nil || link != filepath.Join(to, "src") {
		t.Errorf("link: %s, %v", link, err)
	}
}

// write makes files; FROM in them stands for the root.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "FROM", root)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
