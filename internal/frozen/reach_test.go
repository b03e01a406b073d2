//go:build unix

package frozen_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/frozen"
)

// A gate judges by what it reaches: in the folders that it names, in what Makefiles
// include, in the configuration that it names.
func TestWhatAGateReaches(t *testing.T) {
	t.Parallel()
	const web, other = `{"scripts": {"test": "jest", "start": "node ."}}`, `{"scripts": {"test": "true", "start": "node ."}}`
	const deep = "all:\n\ttrue\ncheck:\n\tsh verify.sh\ndocs:\n\ttrue\n"
	cases := []struct {
		name, gate string
		start      files
		work       files // what the agent makes of them
		want       []string
	}{
		{"by cd", "cd web && npm test", files{"web/package.json": web}, files{"web/package.json": other}, []string{"web/package.json"}},
		{"by an option", "npm --prefix=web test", files{"web/package.json": web}, files{"web/package.json": other}, []string{"web/package.json"}},
		{
			"in another script there", "cd web && npm test",
			files{"web/package.json": web},
			files{"web/package.json": `{"scripts": {"test": "jest", "start": "node app.js"}}`},
			nil,
		},
		{"in a folder that no gate names", "npm test", files{"package.json": web, "web/package.json": web}, files{"web/package.json": other}, nil},
		{
			"in a workspace", "npm test -w @shop/api",
			files{"package.json": `{"workspaces": ["packages/*"]}`, "packages/api/package.json": web},
			files{"packages/api/package.json": other},
			[]string{"packages/api/package.json"},
		},
		{
			"in a workspace, as yarn has it", "yarn workspaces foreach run test",
			files{"package.json": `{"workspaces": {"packages": ["api/"]}}`, "api/package.json": web},
			files{"api/package.json": other},
			[]string{"api/package.json"},
		},
		{
			"by a pattern of scripts", "npm test",
			files{"package.json": `{"scripts": {"test": "run-s \"test:*\"", "test:unit": "jest", "test:*": "x"}}`},
			files{"package.json": `{"scripts": {"test": "run-s \"test:*\"", "test:unit": "true", "test:*": "x"}}`},
			[]string{"package.json"},
		},
		{"by make in a folder", "make -C lib check", files{"lib/Makefile": deep}, files{"lib/Makefile": "check:\n\ttrue\n"}, []string{"lib/Makefile"}},
		{
			"by make that calls make", "make ci",
			files{"Makefile": "ci:\n\t$(MAKE) -C lib check\n", "lib/Makefile": deep, "lib/verify.sh": "exit 1\n"},
			files{"lib/Makefile": "all:\n\ttrue\ncheck:\n\ttrue\n", "lib/verify.sh": "exit 0\n"},
			[]string{"lib/Makefile", "lib/verify.sh"},
		},
		{
			"in another target there", "make ci",
			files{"Makefile": "ci:\n\t$(MAKE) -C lib check\n", "lib/Makefile": deep},
			files{"lib/Makefile": "all:\n\tfalse\ncheck:\n\tsh verify.sh\ndocs:\n\tfalse\n"},
			nil,
		},
		{
			"by patterns of includes, and what these include", "make test",
			files{"Makefile": "include mk/*.mk\n", "mk/a.mk": "include mk/deep/b.mk\ntest:\n\tsh verify.sh\n", "mk/deep/b.mk": "X = 1\n", "verify.sh": "exit 1\n"},
			files{"mk/a.mk": "test:\n\ttrue\n", "mk/deep/b.mk": "X = 2\n", "verify.sh": "exit 0\n"},
			[]string{"mk/a.mk", "mk/deep/b.mk", "verify.sh"},
		},
		{
			"by a name for make", "make -f ci.mk test",
			files{"ci.mk": "test:\n\tsh verify.sh\n", "verify.sh": "exit 1\n"},
			files{"ci.mk": "test:\n\ttrue\n", "verify.sh": "exit 0\n"},
			[]string{"ci.mk", "verify.sh"},
		},
		{
			"by a name for a tool", "npx eslint -c lint/strict.js . && mypy --config-file=lint/my.ini",
			files{"lint/strict.js": "x\n", "lint/my.ini": "x\n"},
			files{"lint/strict.js": "y\n", "lint/my.ini": "y\n"},
			[]string{"lint/my.ini", "lint/strict.js"},
		},
		{"by an option that means another thing", "cc -c add.c && ./add -c app.ini", files{"add.c": "x\n", "app.ini": "x\n"}, files{"add.c": "y\n", "app.ini": "y\n"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newProject(t, c.start)
			f, err := frozen.Take(frozen.Options{Root: b.root, Store: t.TempDir(), Gates: []gate.Gate{{Command: c.gate}}})
			if err != nil {
				t.Fatal(err)
			}
			b.write(c.work)
			got, err := f.Changes()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// A folder that git ignores is built, and built anew: what lies there is not held.
func TestWhatIsBuiltIsNotReached(t *testing.T) {
	t.Parallel()
	b := newProject(t, files{"dist/package.json": `{"scripts": {"test": "jest"}}`, "dist/jest.config.js": "x\n"})
	f, err := frozen.Take(frozen.Options{
		Root: b.root, Store: t.TempDir(), Gates: []gate.Gate{{Command: "npm run build && cd dist && npm test"}},
		Ignores: func(path string) (bool, error) { return path == "dist" || strings.HasPrefix(path, "dist/"), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.write(files{"dist/package.json": "", "dist/jest.config.js": ""})
	if changed, err := f.Changes(); err != nil || len(changed) > 0 {
		t.Errorf("changed: %q, %v", changed, err)
	}
}

// Where git did not say what it ignores, nothing is frozen by a guess, nor kept.
func TestAnErrorOfGitIsNotTakenForNotIgnored(t *testing.T) {
	t.Parallel()
	b := newProject(t, files{"dist/package.json": `{"scripts": {"test": "jest"}}`})
	dead, store := errors.New("git died"), t.TempDir()
	_, err := frozen.Take(frozen.Options{
		Root: b.root, Store: store, Gates: []gate.Gate{{Command: "cd dist && npm test"}},
		Ignores: func(string) (bool, error) { return false, dead },
	})
	if !errors.Is(err, dead) {
		t.Errorf("error %v", err)
	}
	if kept, err := os.ReadDir(store); err != nil || len(kept) > 0 {
		t.Errorf("kept %v, %v", kept, err)
	}
}
