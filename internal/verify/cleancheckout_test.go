//go:build unix

package verify_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A gate that believes a product which git ignores is asked once more where there is none.
func TestIgnoredBuildProductIsNotTrusted(t *testing.T) {
	t.Parallel()
	const command = "test -e product || cp source product; grep pears product || { echo FAIL; exit 1; }"
	for _, c := range []struct {
		name   string
		source string
		want   gate.Evidence
		ran    []string
	}{
		{"forged", "apples, and more\n", gate.EvidenceUnknown, []string{"kept a", "a", "kept a repeat-before", "a repeat-clean", "a repeat-clean", "a control", "a repeat-after"}},
		{"built", "pears\n", gate.Proven, []string{"kept a", "a", "kept a repeat-before", "a repeat-clean", "a repeat-after"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"source": "apples\n", ".gitignore": "product\n"}, nil)
			f := b.claim(gates(command), files{"source": c.source, "product": "pears\n"}, nil)
			if v := f.Verdict; v.Status != gate.Pass || v.Evidence != c.want {
				t.Errorf("verdict %+v", v)
			}
			if diff := cmp.Diff(c.ran, b.ran); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}

// A test that takes too long on a busy machine may fail in the checkout by chance. So what fails
// only there fails twice, or the checkout is not the reason.
func TestFailureInTheCleanCheckoutIsRetried(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails string // of the runs with the work, whose first is in the work tree
		want  gate.Evidence
	}{
		"once":  {"2", gate.Proven},
		"twice": {"[23]", gate.EvidenceUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"lib": "bad\n"}, func(o *verify.Options) { o.NoNamespace = true })
			count := filepath.Join(t.TempDir(), "runs")
			f := b.claim(gates("grep -q good lib || exit 1; echo >> "+count+"; case $(wc -l < "+count+") in "+c.fails+") exit 1;; esac; true"), files{"lib": "good\n"}, nil)
			if v := f.Verdict; v.Evidence != c.want {
				t.Errorf("verdict %+v, runs %v", v, b.ran)
			}
		})
	}
}

func TestRepeatWithoutDependenciesIsUnknown(t *testing.T) {
	t.Parallel()
	start := shop()
	start["stock"] = "nothing\n"
	b := newBench(t, start, nil)
	b.write(files{"deps/lib": "x"})
	v := b.claim(gates("sh check.sh"), files{"stock": "apples\n"}, nil).Verdict
	if v.Evidence != gate.Proven || !slices.Contains(v.Labels, "could not be repeated in a clean checkout: a") {
		t.Errorf("verdict %+v", v)
	}
}

// What is compiled of the work counts in one checkout. With -trimpath, Go takes what it
// compiled of the same files in another folder; at the same path, what it compiled there.
func TestCleanRepeatCompilesAnew(t *testing.T) {
	t.Parallel()
	inEachMode(t, "", func(t *testing.T, byFolder bool) {
		b := newBench(t, files{"stock": "apples\n"}, func(o *verify.Options) { o.UserEnv, o.NoNamespace = []string{"GOFLAGS=-trimpath"}, byFolder })
		f := b.claim(gates("echo $GOFLAGS; grep pears stock"), files{"stock": "pears\n"}, nil)
		if f.Verdict.Evidence != gate.Proven {
			t.Errorf("verdict %+v", f.Verdict)
		}
		want := "-trimpath -count=1 -gcflags=-D=worktree-"
		if byFolder {
			want = "-trimpath -count=1 -trimpath=false\n"
		}
		if got := f.Observation.Runs[gate.RepeatClean].Results[0].Tail; !strings.HasPrefix(got, want) {
			t.Errorf("flags %q, want %q", got, want)
		}
	})
}

// What was built of a source that the tree of before does not have is not there either.
func TestOldTreeHasNoProductsOfNewSources(t *testing.T) {
	t.Parallel()
	const build = "[ ! -e new_test.sh ] || { [ ! -e new.sh ] || { mkdir -p build && cp new.sh build/; }; [ -e build/new.sh ]; }"
	b := newBench(t, files{".gitignore": "build/\n", "lib.sh": "\n"}, nil)
	f := b.claim(gates(build), files{"new.sh": "new() { echo 1; }\n", "new_test.sh": "new\n"}, nil)
	if f.Verdict.Evidence != gate.Proven {
		t.Errorf("%s: %s", f.Verdict.Evidence, f.Verdict.Reason)
	}
}
