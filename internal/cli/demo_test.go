package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/demo"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/verify"
)

// The whole demo runs without its screen, where only git and a shell exist. It ends verified, and all
// mistakes in the script are caught.
func TestDemoCatchesAllMistakes(t *testing.T) {
	if runtime.GOOS == "linux" { // on other systems a symlink to git does not run
		t.Setenv("PATH", onlyPrograms(t, "git", "sh"))
	} else {
		t.Parallel()
	}
	place, err := demo.Make(t.Context(), t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	hurry(t, place.Script)
	home := t.TempDir()
	env := environment.Environment{Home: home, PawlHome: filepath.Join(home, "pawl"), ConfigHome: home, Vars: os.Environ()}
	c := &demoCmd{Agent: scriptedAgent}
	d, err := c.begin(t.Context(), env, place)
	if err != nil {
		t.Fatal(err)
	}
	gates := &gateCounter{}
	d.Observer = gates
	state, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if state.Outcome != loop.Verified {
		t.Fatalf("ended %s: %s", state.Outcome, state.Reason)
	}
	// One of them shows before the first turn that a clean checkout has the same baseline. Another one
	// makes a condition that a task adds always false.
	if most := 18; gates.runs > most {
		t.Errorf("the gate ran %d times, at most %d, or the demo takes too long", gates.runs, most)
	}
	subjects := gitOutput(t, place.Repo, "log", "--format=%s", "main..HEAD")
	want := "feat(3): Shipping is free from 50.00\nfeat(2): Voucher: a percentage off\nfeat(1): Total adds up the items"
	if diff := cmp.Diff(want, subjects); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	if left := gitOutput(t, place.Repo, "status", "--porcelain"); left != "" {
		t.Errorf("left in the work tree:\n%s", left)
	}
	catches, err := demo.ReadCatches(d.Loop.Records(journal.Mark{}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]demo.Catch{
		{Kind: demo.FalseClaim, Iteration: 1, What: "task 1 was claimed done while tests/total.sh failed", Then: "refused"},
		{Kind: demo.UsageLimit, Iteration: 3, What: "the agent met a usage limit", Then: "waited until it reset: no failure, no iteration counted"},
		{Kind: demo.NoTest, Iteration: 3, What: "task 2 was claimed done, but no test proved it", Then: "refused once, a test asked for"},
		{Kind: demo.Regression, Iteration: 5, What: "task 3 was claimed done with task 1 broken: tests/total.sh", Then: "refused, with the broken tests named"},
		{Kind: demo.Tampering, Iteration: 6, What: "the agent tried to rewrite tests/total.sh, a protected file", Then: "denied before it ran"},
	}, catches); diff != "" {
		t.Errorf("caught (-want +got):\n%s", diff)
	}
	var said bytes.Buffer
	if err := c.conclude(&app{self: "/usr/bin/pawl"}, &said, place, d.Loop); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cd " + place.Repo, "tests/total.sh", "pawl report"} {
		if !strings.Contains(said.String(), line) {
			t.Errorf("the end does not say %q:\n%s", line, said.String())
		}
	}
}

// The demo says in one line what is missing.
func TestDemoWithoutGitSaysWhatIsMissing(t *testing.T) {
	for _, tt := range []struct {
		path, want string
	}{
		{onlyPrograms(t, "sh"), "the demo needs git, which is not on your PATH"},
		{onlyPrograms(t, "git"), "the demo needs sh, which is not on your PATH"},
		{t.TempDir(), "the demo needs git and sh, which are not on your PATH"},
	} {
		t.Setenv("PATH", tt.path)
		dir := t.TempDir()
		_, err := demo.Make(t.Context(), dir, os.Environ())
		if err == nil || err.Error() != tt.want || failure.Hint(err) == "" {
			t.Errorf("got %v, want %s, with a hint", err, tt.want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// onlyPrograms makes a folder for PATH with only these programs.
func onlyPrograms(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	return dir
}

// A missing catch is an error that names it.
func TestDemoErrorNamesMissingCatch(t *testing.T) {
	t.Parallel()
	err := demo.CheckAllCaught([]demo.Catch{{Kind: demo.FalseClaim}, {Kind: demo.UsageLimit}, {Kind: demo.NoTest}, {Kind: demo.Tampering}})
	want := "the demo ran, but this was not caught: " + string(demo.Regression)
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The user's own git settings do not reach the demo's repository.
func TestDemoRepositoryIgnoresUserGitSettings(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	global := "[user]\n\tname = Ann\n[commit]\n\tgpgSign = true\n[core]\n\tautocrlf = true\n\thooksPath = " + filepath.ToSlash(home) + "\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(global), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "GIT_DIR="+filepath.Join(home, "elsewhere"))
	place, err := demo.Make(t.Context(), t.TempDir(), env)
	if err != nil {
		t.Fatal(err)
	}
	if got := gitOutput(t, place.Repo, "log", "--format=%an %s"); got != "Pawl Demo Begin a shopping cart" {
		t.Errorf("log: %s", got)
	}
}

// hurry removes the pauses from a script.
func hurry(t *testing.T, script string) {
	t.Helper()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, bytes.ReplaceAll(text, []byte("\n600ms\n"), []byte("\n1ms\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func gitOutput(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// gateCounter counts the runs of gates, including probes.
type gateCounter struct{ runs int }

func (*gateCounter) Stepped(loop.State, loop.Event, []loop.Action) {}
func (*gateCounter) Agent(agent.Event)                             {}
func (*gateCounter) Note(memory.Note)                              {}
func (c *gateCounter) Gate(p verify.Progress) {
	if p.Result != nil && !p.Result.Cached {
		c.runs++
	}
}

// If the shell does not find pawl, the demo says how to install it before the next commands.
func TestDemoSaysHowToInstall(t *testing.T) {
	name := "pawl"
	if runtime.GOOS == "windows" {
		name = "pawl.exe"
	}
	npx, bin, empty := filepath.Join(t.TempDir(), "node_modules", ".bin"), t.TempDir(), t.TempDir()
	for _, dir := range []string{npx, bin} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	unpacked := filepath.Join(empty, "pawl_1.0.0_linux_amd64", "bin", name)
	for _, tt := range []struct{ path, program, want string }{
		{empty, filepath.Join(os.TempDir(), "go-build12", "b001", "exe", name), "go install ./cmd/pawl ./cmd/pawl-hook\n"},
		{empty, unpacked, "export PATH=\"$PATH:" + filepath.Dir(unpacked) + "\"\n"},
		{npx, unpacked, "npm install --global pawl\n"},
		{bin, unpacked, ""},
	} {
		t.Setenv("PATH", tt.path)
		if got := installFirst(tt.program); !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("PATH %s, program %s: %q, want %q", tt.path, tt.program, got, tt.want)
		}
	}
}
