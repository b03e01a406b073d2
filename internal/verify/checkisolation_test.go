//go:build unix

package verify_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Before the first turn it is known which gates an isolated checkout does not show.
func TestIrreproducibleGatesAreFoundBeforeTheFirstTurn(t *testing.T) {
	t.Parallel()
	outside, err := os.MkdirTemp("/tmp", "pawl-") //nolint:usetesting // of everybody's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(outside) })
	for name, c := range map[string]struct {
		gate       string
		inWorkTree bool
		unshown    bool
		byFolder   bool // from then on
	}{
		"it shows them":                        {"grep 1 lib", false, false, false},
		"red, and shown":                       {"grep 2 lib", false, false, false},
		"it needs what git ignores":            {"grep 1 ignored", false, true, false},
		"the same, decided in the work tree":   {"grep 1 ignored", true, false, false},
		"it needs what a namespace hides":      {"[ -d '" + outside + "' ]", false, false, true},
		"it cannot be told in the first place": {"no-such-command-there", false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needsNamespace(t)
			b := newBench(t, files{"lib": "1\n", ".gitignore": "ignored\n"}, nil)
			b.write(files{"ignored": "1\n"})
			gs := []gate.Gate{{Name: "a", Command: c.gate, InWorkTree: c.inWorkTree}}
			got, err := b.CheckIsolation(t.Context(), b.tree(), gs, "")
			if err != nil {
				t.Fatal(err)
			}
			if (len(got) > 0) != c.unshown || c.unshown && (got[0].Gate != "a" || got[0].Why == "" || !strings.Contains(got[0].Remedy, "isolated = false")) {
				t.Errorf("unshown: %+v", got)
			}
			if r := b.elsewhere("[ -d '" + outside + "' ]"); (r.Status == gate.Pass) != c.byFolder {
				t.Errorf("by folder from then on: %s", r.Status)
			}
		})
	}
}

// A flaky gate is not the checkout's fault: it is run there once more, also where there are no namespaces.
func TestFlakyGateIsRetriedInTheCheckout(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash asks the server of this test")
	}
	for name, inNamespace := range map[string]bool{"in a namespace": true, "by a folder": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintln(w, map[bool]string{true: "green", false: "red"}[asked.Add(1)%2 == 1])
			}))
			t.Cleanup(server.Close)
			host, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
			b := newBench(t, files{"lib": "1\n"}, nil)
			if inNamespace {
				needsNamespace(t)
			} else if err := b.Checkout.UseNamespace(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			gs := []gate.Gate{{Name: "a", Command: `bash -c 'exec 3<>/dev/tcp/` + host + "/" + port + `; printf "GET / HTTP/1.0\r\n\r\n" >&3; grep -q green <&3'`}}
			got, err := b.CheckIsolation(t.Context(), b.tree(), gs, "")
			if err != nil || len(got) > 0 || asked.Load() != 3 {
				t.Errorf("unshown after %d runs: %+v (%v)", asked.Load(), got, err)
			}
			if b.Checkout.InNamespace(t.Context()) != inNamespace {
				t.Error("its checkout is isolated in another way from then on")
			}
		})
	}
}

// What the user can do depends on what the checkout lacks.
func TestRemedyNamesWhatTheCheckoutLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start      files
		gate, want string
	}{
		"a set-up":    {files{".gitignore": "ignored\n"}, "grep 1 ignored", `setup = ["…"]`},
		"a file":      {files{".gitignore": "ignored\n"}, "grep 1 ignored", "untracked files that they need (they lack ignored, which git ignores)"},
		"other files": {files{".gitignore": "ignored\n", ".worktreeinclude": "ignored\n"}, "grep 1 ignored && false || [ -d '.git/logs' ]", "untracked files that they need; isolated"},
		"submodules":  {files{".gitignore": "ignored\n", ".gitmodules": "\n"}, "grep 1 ignored", `setup = ["git submodule update --init --recursive"]`},
		"a program":   {files{".gitignore": "tools/\n"}, "tools/check", "git ignores tools/: with  echo 'tools/' >> .worktreeinclude  checkouts get it"},
		"a full disk": {files{".gitignore": "ignored\n"}, "grep 1 ignored || { echo 'write: no space left on device'; exit 1; }", "Free some space"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.start, nil)
			b.write(files{"ignored": "1\n", "tools/check": "#!/bin/sh\nexit 0\n"})
			if err := os.Chmod(filepath.Join(b.root, "tools", "check"), 0o755); err != nil {
				t.Fatal(err)
			}
			got, err := b.CheckIsolation(t.Context(), b.tree(), []gate.Gate{{Name: "a", Command: c.gate}}, "")
			if err != nil || len(got) != 1 || !strings.Contains(got[0].Remedy, c.want) {
				t.Errorf("%+v (%v), want %q", got, err, c.want)
			}
		})
	}
}

// A gate that the user has decided in the work tree counts there, and the verdict says so.
func TestGateSetToTheWorkTreeIsDecidedThere(t *testing.T) {
	t.Parallel()
	start := shop()
	start["stock"] = "nothing\n"
	b := newBench(t, start, nil)
	b.write(files{"deps/lib": "x"})
	gs := gates("sh check.sh")
	gs[0].InWorkTree = true
	f := b.claim(gs, files{"stock": "apples\n"}, func(*verify.Request) {})
	if v := f.Verdict; v.Evidence != gate.Proven || !slices.Contains(v.Labels, "decided in the work tree (isolated = false): a") || len(v.Labels) != 1 {
		t.Errorf("%+v", v)
	}
	if f.Observation.Runs[gate.RepeatClean].Results[0].Status != gate.Pass {
		t.Error("it was not repeated in the work tree")
	}
	if entries, err := os.ReadDir(filepath.Join(b.Dir, "worktrees")); err == nil && len(entries) > 0 {
		t.Error("a checkout was made")
	}
}

// Where a checkout showed a gate before the first turn, work whose run there cannot tell is not
// proven: a program that says that the disk is full would hide every red.
func TestClaimWithUnknownCheckoutRunIsNotProven(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"source": "fruit=apples\n", ".gitignore": "product\n", "check.sh": ". ./source; test $fruit = pears\n"}, nil)
	gs := gates("sh check.sh")
	if got, err := b.CheckIsolation(t.Context(), b.tree(), gs, ""); err != nil || len(got) > 0 {
		t.Fatal(got, err)
	}
	full := "test -e product || { echo 'write cache: no space left on device'; exit 1; }\nfruit=pears\n"
	v := b.claim(gs, files{"source": full, "product": "x\n"}, nil).Verdict
	if v.Evidence != gate.EvidenceUnknown || !strings.Contains(v.Reason, "is unknown: a: the disk is full; free some space") {
		t.Errorf("%+v", v)
	}
}
