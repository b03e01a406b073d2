//go:build linux

package verify_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// What the gates read of caches and toolchains before the first turn, an agent cannot
// change for them: neither its turn nor a run of its tests.
func TestPoisonedCacheProvesNothing(t *testing.T) {
	t.Parallel()
	home := files{
		".m2/repository/junit/4.13/junit.jar": "red\n", "go/pkg/mod/example.com/assert@v1.0.0/assert.go": "red\n",
		".cargo/registry/src/assert/lib.rs": "red\n", ".pyenv/lib/unittest.py": "red\n", ".gradle/caches/x.jar": "red\n",
	}
	for name, now := range agenttest.Some(map[string]files{
		"a library of Maven's":      {".m2/repository/junit/4.13/junit.jar": "green\n"},
		"a module of Go's":          {"go/pkg/mod/example.com/assert@v1.0.0/assert.go": "green\n"},
		"a new file in that module": {"go/pkg/mod/example.com/assert@v1.0.0/more.go": "green\n"},
		"a crate":                   {".cargo/registry/src/assert/lib.rs": "green\n"},
		"a toolchain":               {".pyenv/lib/unittest.py": "green\n"},
		"a library of Gradle's":     {".gradle/caches/x.jar": "green\n"},
	}, 2) {
		inEachMode(t, name, func(t *testing.T, byFolder bool) {
			command := "cat ~/.m2/repository/junit/4.13/*.jar ~/go/pkg/mod/example.com/*/*.go ~/.cargo/registry/src/*/* ~/.pyenv/lib/* ~/.gradle/caches/* | grep -q green"
			b, put := homeBench(t, files{"lib": "1\n"}, home, func(o *verify.Options) {
				o.NoNamespace = byFolder
				o.Env = append(o.Env, "PYENV_ROOT=", "GOPATH=") // else each case watches this machine's, and there are only so many watches
			})
			r := verify.Request{Gates: gates(command), Base: b.tree()}
			if _, err := b.CheckIsolation(t.Context(), r.Base, r.Gates, ""); err != nil {
				t.Fatal(err)
			}
			b.write(files{"lib": "2\n"})
			put(now)
			r.Tree = b.tree()
			f, err := b.Claim(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if v := f.Verdict; v.Evidence == gate.Proven || !strings.Contains(v.Reason, "passes in the work tree and fails in a clean checkout") {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// What is as it was is there, and what nothing had read before: an honest agent fetches it.
func TestUnchangedCachesAreReadable(t *testing.T) {
	t.Parallel()
	inEachMode(t, "", func(t *testing.T, byFolder bool) {
		old, fetched := ".m2/repository/junit/4.13/junit.jar", ".m2/repository/other/1.0/other.jar"
		b, put := homeBench(t, files{"lib": "1\n"}, files{old: "green\n"}, func(o *verify.Options) { o.NoNamespace = byFolder })
		command := "cat ~/" + old + " && grep -q 1 lib || cat ~/" + fetched
		if _, err := b.CheckIsolation(t.Context(), b.tree(), gates(command), ""); err != nil {
			t.Fatal(err)
		}
		b.write(files{"lib": "2\n"})
		put(files{old: "green\n", fetched: "green\n"}) // written anew with the same content
		got, err := b.RunInCheckout(t.Context(), b.tree(), gates("cat ~/"+old+" ~/"+fetched+" && echo kept >>~/"+fetched), "")
		if err != nil || got[0].Status != gate.Pass {
			t.Errorf("%v: %+v", err, got)
		}
	})
}

// What Go's build cache keeps of a package of the library is not believed once it was
// changed: it is compiled anew.
func TestPoisonedBuildCacheIsIgnored(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "go")
	needsNamespace(t)
	var cache string
	b, _ := homeBench(t, files{
		"go.mod": "module m\n\ngo 1.20\n", "m.go": "package m\n\nimport \"unicode/utf8\"\n\nvar Max = utf8.UTFMax\n", ".gitignore": "built\n",
	}, nil, func(o *verify.Options) {
		cache = filepath.Join(t.TempDir(), "go-build")
		o.Env = append(o.Env, "GOCACHE="+cache)
		if err := os.Mkdir(cache, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	g := gates("go build -x -o built ./... 2>&1")
	if _, err := b.CheckIsolation(t.Context(), b.tree(), g, ""); err != nil {
		t.Fatal(err)
	}
	outputs, err := filepath.Glob(filepath.Join(cache, "??", "*-d"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range outputs {
		data, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(data), "!<arch>") {
			err = os.WriteFile(file, []byte(strings.Repeat("x", len(data))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.write(files{"m.go": "package m\n\nimport \"unicode/utf8\"\n\nvar Most = utf8.UTFMax\n"})
	later, err := verify.New(b.Options)
	if err != nil {
		t.Fatal(err)
	}
	got, err := later.RunInCheckout(t.Context(), b.tree(), g, "")
	if err = errors.Join(err, later.Close(t.Context())); err != nil || got[0].Status != gate.Pass {
		t.Errorf("%v: %+v", err, got)
	}
}
