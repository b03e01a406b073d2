package plugin_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/plugin"
)

// badClient is the variable that makes this program a client that misbehaves in
// the way that is its value.
const badClient = "PAWL_TEST_BAD_CLIENT"

func misbehave(how string) int {
	switch how {
	case "fails":
		fmt.Fprintln(os.Stderr, "the disk is full")
		return 3
	case "speaks prose":
		fmt.Println("No marketplaces configured")
	case "floods":
		for range 100 {
			fmt.Print(strings.Repeat("x", 100_000))
		}
	case "hangs":
		time.Sleep(time.Hour)
	case "fails later":
		if strings.Contains(strings.Join(os.Args, " "), "list") {
			fmt.Println("[]")
			return 0
		}
		return 1
	}
	return 0
}

// bad is the set-up of a plugin in a client that misbehaves.
func bad(t *testing.T, how string) plugin.Setup {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return plugin.Setup{
		Plugin: made(t, plugin.RepositoryHook()), Dir: filepath.Join(t.TempDir(), "plugin"),
		Client: program, Env: append(os.Environ(), badClient+"="+how),
	}
}

func TestMisbehavingClientIsAnError(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"fails":        "claude plugin marketplace list --json failed (exit code 3): the disk is full",
		"speaks prose": "read what claude plugin marketplace list --json printed: ",
		"floods":       "read what claude plugin marketplace list --json printed: ",
	}
	for how, want := range cases {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := bad(t, how)
			for name, do := range map[string]func(context.Context) ([]string, error){"install": s.Install, "uninstall": s.Uninstall} {
				did, err := do(t.Context())
				if err == nil || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 500 {
					t.Errorf("%s: error %v, want %q", name, err, want)
				}
				if failure.Hint(err) == "" || did != nil {
					t.Errorf("%s: hint %q, did %q", name, failure.Hint(err), did)
				}
			}
			if _, err := os.Stat(s.Dir); err == nil {
				t.Error("it exported all the same")
			}
		})
	}
}

// What was done before a failure is told.
func TestLaterFailureReportsDoneSteps(t *testing.T) {
	t.Parallel()
	s := bad(t, "fails later")
	did, err := s.Install(t.Context())
	if diff := cmp.Diff([]string{"write the plugin " + s.Plugin.Version + " to " + s.Dir}, did); err == nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestHangingClientTimesOut(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := bad(t, "hangs").Install(ctx); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestMissingClientIsAnError(t *testing.T) {
	t.Parallel()
	s := plugin.Setup{Plugin: made(t, plugin.RepositoryHook()), Dir: filepath.Join(t.TempDir(), "plugin"), Client: filepath.Join(t.TempDir(), "claude")}
	_, err := s.Install(t.Context())
	if failure.CodeOf(err) != failure.Usage || !strings.Contains(failure.Hint(err), "pawl plugin export") {
		t.Errorf("error %v, hint %q", err, failure.Hint(err))
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	s := bad(t, "fails") // it is not asked
	s.DryRun, s.Dir = true, filepath.Join(t.TempDir(), "it's here")
	quoted := "'" + strings.ReplaceAll(s.Dir, "'", `'\''`) + "'"
	did, err := s.Install(t.Context())
	want := []string{
		"write the plugin " + s.Plugin.Version + " to " + s.Dir,
		"claude plugin marketplace add " + quoted,
		"claude plugin install pawl@pawl --scope user",
	}
	if diff := cmp.Diff(want, did); err != nil || diff != "" {
		t.Error(err, diff)
	}
	did, err = s.Uninstall(t.Context())
	want = []string{
		"claude plugin uninstall pawl@pawl --scope user",
		"claude plugin marketplace remove pawl",
		"remove " + s.Dir,
	}
	if diff := cmp.Diff(want, did); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("it exported")
	}
}
