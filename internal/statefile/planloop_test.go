package statefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
)

const (
	planPath = ".ralph/PRD-1/plan.md"
	planDir  = ".ralph/PRD-1/"
	sha1     = "1111111111111111111111111111111111111111"
	sha2     = "2222222222222222222222222222222222222222"
)

var morning = time.Date(2026, 3, 1, 9, 5, 0, 0, time.UTC)

// planBench is a project with a plan of two stories, a loop over it on the real state machine, and
// its files.
type planBench struct {
	t     *testing.T
	root  string
	files statefile.Files
	mem   memory.Memory
	now   time.Time
}

func newPlanBench(t *testing.T, change ...func(*record.Spec)) *planBench {
	t.Helper()
	root := t.TempDir()
	b := &planBench{t: t, root: root, now: morning}
	b.write(planPath, "- [ ] US-001: one\n- [ ] US-002: two\n")
	spec := record.Spec{
		Request:        record.Request{Plan: planPath, Tasks: []loop.Task{{ID: "US-001", Title: "one", Status: loop.Open}, {ID: "US-002", Title: "two", Status: loop.Open}}},
		SessionOptions: record.SessionOptions{CompatFormat: statefile.PlanLoopName},
		Repository:     record.Repository{StartCommit: sha1, NoCommit: true},
		Policy: loop.Policy{
			Kind: loop.Change, Gates: true, Session: loop.Continue,
			Limits: loop.Limits{Iterations: 20},
		},
	}
	for _, c := range change {
		c(&spec)
	}
	dir := filepath.Join(t.TempDir(), "brisk-otter-7f3a")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b.files = statefile.FilesOf(root, dir, spec)
	b.mem.Base.Commit = sha1
	b.step(loop.Event{Payload: loop.Started{Policy: spec.Policy, Tasks: spec.Tasks}})
	b.taken()
	return b
}

// step sends an event. If it leads to a turn, the turn starts.
func (b *planBench) step(e loop.Event) {
	b.t.Helper()
	b.now = b.now.Add(time.Minute)
	e.At = b.now
	begun := b.mem.TurnsBegun
	b.mem.Apply(e)
	if b.mem.TurnsBegun > begun {
		if err := b.files.UpdateProgress(b.mem, b.now); err != nil {
			b.t.Fatal(err)
		}
	}
}

// taken takes the next story, with passing gates before the work.
func (b *planBench) taken() {
	b.t.Helper()
	b.step(loop.Event{Payload: loop.Checkpointed{Tree: "t"}})
	b.step(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Purpose: loop.ForBaseline, Status: gate.Pass, Green: true}}})
}

func (b *planBench) turn(c *loop.Claim) {
	b.t.Helper()
	b.step(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{Claim: c, ToolCalls: 1}}})
	b.step(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}})
}

// fails claims the story with a failing gate.
func (b *planBench) fails(reason, output string) {
	b.t.Helper()
	b.turn(&loop.Claim{})
	b.step(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{
		Purpose: loop.ForClaim, Tree: "t", Status: gate.Fail, Reason: reason,
		Results:  []gate.Result{{Gate: "test", Command: "go test ./...", Status: gate.Fail, ExitCode: 1, Tail: output}},
		Failures: loop.Failures{Failing: []string{"TestA"}, FirstError: "boom", Fingerprint: reason},
	}}})
}

// passes claims the story with passing gates, and keeps it.
func (b *planBench) passes(commit string) {
	b.t.Helper()
	b.turn(&loop.Claim{})
	b.step(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Purpose: loop.ForClaim, Tree: "t", Status: gate.Pass, Green: true, WorkResult: loop.WorkResult{Evidence: gate.Proven}}}})
	b.step(loop.Event{Payload: loop.Committed{Tree: "t", Commit: commit}})
}

func (b *planBench) ends(cause string) {
	b.t.Helper()
	b.step(loop.Event{Payload: loop.Cancelled{Cause: cause}})
	b.step(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{}}})
	b.step(loop.Event{Payload: loop.Concluded{}})
	b.now = b.mem.State.EndedAt
	if b.mem.State.Phase != loop.Ended {
		b.t.Fatalf("the loop is %s", b.mem.State.Phase)
	}
	if err := b.files.MarkEnded(b.mem, ""); err != nil {
		b.t.Fatal(err)
	}
}

func (b *planBench) path(file string) string { return filepath.Join(b.root, filepath.FromSlash(file)) }

func (b *planBench) write(file, text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(file)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(file), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// read returns the content of a file, "-" if there is none.
func (b *planBench) read(file string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(file))
	if errors.Is(err, os.ErrNotExist) {
		return "-"
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// want checks a file beside the plan and in the folder that all plans share.
func (b *planBench) want(name, text string) {
	b.t.Helper()
	for _, dir := range []string{planDir, ".ralph/"} {
		if diff := cmp.Diff(text, b.read(dir+name)); diff != "" {
			b.t.Errorf("%s (-want +got):\n%s", dir+name, diff)
		}
	}
}

func TestPlanLoopIsNeverAdopted(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	f, ok := statefile.FormatByName(statefile.PlanLoopName)
	if !ok {
		t.Fatal("no such format")
	}
	if path := f.Find(statefile.Place{Root: b.root}); path != "" {
		t.Errorf("found %s", path)
	}
	if p, err := f.Propose(b.path(planPath), statefile.Place{Root: b.root}, statefile.SessionInfo{}); err != nil || !p.Skip {
		t.Errorf("proposed %+v, %v", p, err)
	}
	if !statefile.IsPlanLoop(planPath) || statefile.IsPlanLoop("plan.md") {
		t.Error("a plan of the plan loop is one by its path")
	}
	b.write(".ralph/sessions.log", "stop\ncomplete\n")
	if w, err := b.files.ReceiveChanges(b.now); err != nil || w.Stop != "" || w.Paused || len(w.Notes) > 0 {
		t.Errorf("heard %+v, %v", w, err)
	}
}

func TestPlanLoopGoldenCurrentStory(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	b.want("current-story", "US-001\n")
	b.passes("")
	b.taken()
	b.want("current-story", "US-002\n")
	b.mem.State.Current = loop.FinalTask
	if err := b.files.UpdateProgress(b.mem, b.now); err != nil {
		t.Fatal(err)
	}
	b.want("current-story", "-")
	b.want(".checkpoint", "-")
}

func TestPlanLoopGoldenCheckpoint(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t, func(s *record.Spec) { s.NoCommit, s.Untracked = false, statefile.PlanLoopFiles(planPath) })
	b.want(".checkpoint", sha1+"\n")
	b.passes(sha2)
	b.taken()
	b.want(".checkpoint", sha2+"\n")
	b.mem.Base.Commit, b.mem.Base.TaskStart = strings.Repeat("3", 40), sha2 // the user has committed since
	b.fails("red", "")
	b.want(".checkpoint", sha2+"\n")

	without := newPlanBench(t, func(s *record.Spec) { s.Shadow = true })
	without.want(".checkpoint", "-")
	without.want("current-story", "US-001\n")
}

func TestPlanLoopGoldenEnd(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	b.write(".ralph/sessions.log", "incomplete:US-009:1:error") // no line end
	b.write(planDir+"sessions.log", "incomplete:US-009:1:error\n")
	b.fails("red", "")
	b.ends(loop.ByStop)
	line := "incomplete:US-001:" + unix(b.now) + ":cancelled\n"
	b.want("sessions.log", "incomplete:US-009:1:error\n"+line)
	b.want("current-story", "-")
	b.want(".checkpoint", "-")
	if err := b.files.MarkEnded(b.mem, ""); err != nil { // a second call, as after a crash
		t.Fatal(err)
	}
	b.want("sessions.log", "incomplete:US-009:1:error\n"+line)
}

func TestPlanLoopGoldenNothingIsIncomplete(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	b.passes("")
	b.taken()
	b.passes("")
	b.step(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Purpose: loop.ForFinal, Status: gate.Pass, Green: true}}})
	if b.mem.State.Outcome != loop.Verified {
		t.Fatalf("the loop is %s %s", b.mem.State.Phase, b.mem.State.Outcome)
	}
	if err := b.files.MarkEnded(b.mem, ""); err != nil {
		t.Fatal(err)
	}
	b.want("sessions.log", "-")
	b.want("current-story", "-")
	if got := b.files.EndLine(b.mem.State); got != "All stories complete!" {
		t.Errorf("ends with %q", got)
	}
	if got := b.files.EndLine(loop.State{Policy: loop.Policy{Limits: loop.Limits{Iterations: 25}}, End: loop.End{Outcome: loop.Iterations}}); got != "Max iterations (25) reached" {
		t.Errorf("ends with %q", got)
	}
}

func TestPlanLoopGoldenEveryStoryLeftOpenIsNamed(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	b.turn(&loop.Claim{Blocked: true, Reason: "no key"})
	b.step(loop.Event{Payload: loop.Checkpointed{Tree: "t"}})
	b.taken()
	b.turn(nil)
	b.ends(loop.ByStop)
	b.want("sessions.log", "incomplete:US-001:"+unix(b.now)+":cancelled\nincomplete:US-002:"+unix(b.now)+":cancelled\n")
}

func TestPlanLoopGoldenSessionLeaves(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	leaver, ok := b.files.(statefile.SessionLeaver)
	if !ok {
		t.Fatal("nobody hears that the session is left")
	}
	if err := leaver.SessionLeft(b.mem, "prompt_input_exit", b.now); err != nil {
		t.Fatal(err)
	}
	b.want("sessions.log", "incomplete:US-001:"+unix(b.now)+":prompt_input_exit\n")
	b.want("current-story", "-")
	b.turn(nil) // the loop is resumed
	b.want("current-story", "US-001\n")
}

func TestPlanLoopGoldenTrackedFilesAreLeftToTheCommit(t *testing.T) {
	t.Parallel()
	tracked := []string{planDir + "progress.md", ".ralph/sessions.log"}
	b := newPlanBench(t, func(s *record.Spec) {
		s.NoCommit = false
		s.Untracked = slices.DeleteFunc(statefile.PlanLoopFiles(planPath), func(f string) bool { return slices.Contains(tracked, f) })
	})
	if own := b.files.OwnPaths(); len(own) != 7 || slices.ContainsFunc(own, func(f string) bool { return slices.Contains(tracked, f) }) {
		t.Errorf("writes %q", own)
	}
	b.fails("red", "x")
	b.ends(loop.ByStop)
	for _, file := range tracked {
		if got := b.read(file); got != "-" {
			t.Errorf("%s: %q", file, got)
		}
	}
	if got := b.read(planDir + "sessions.log"); !strings.HasPrefix(got, "incomplete:US-001:") {
		t.Errorf("beside the plan: %q", got)
	}
}

func TestPlanLoopGoldenStaleFilesOfAnotherLoopStay(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	b.write(".ralph/current-story", "US-777\n") // another loop's, started after this one was killed
	b.write(".ralph/.checkpoint", sha2+"\n")
	b.ends(loop.ByStop)
	if s, c := b.read(".ralph/current-story"), b.read(".ralph/.checkpoint"); s != "US-777\n" || c != sha2+"\n" {
		t.Errorf("another loop's files: %q, %q", s, c)
	}
	if s, c := b.read(planDir+"current-story"), b.read(planDir+".checkpoint"); s != "-" || c != "-" {
		t.Errorf("our own: %q, %q", s, c)
	}
}

func TestPlanLoopGoldenUntrustedFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	outside := t.TempDir()
	b := newPlanBench(t)
	link := func(to, file string) {
		t.Helper()
		if err := os.RemoveAll(b.path(file)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, b.path(file)); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("US-001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(secret, ".ralph/current-story")
	link(secret, ".ralph/failure-context.log")
	if err := os.Remove(b.path(planDir + ".checkpoint")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.path(planDir+".checkpoint"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.mem.State.Failing = &loop.Failing{Reason: "red"}
	b.mem.State.Iteration, b.mem.State.History = 2, []loop.RecapLine{{Iteration: 1, Task: "US-001"}}
	err := b.files.UpdateProgress(b.mem, b.now)
	for _, name := range []string{"current-story", "failure-context.log", ".checkpoint"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not refused by name: %v", name, err)
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "US-001\n" {
		t.Errorf("outside of the project: %q, %v", data, err)
	}
	if got := b.read(planDir + "failure-context.log"); !strings.Contains(got, "Reason: red") {
		t.Errorf("what could be written was not: %q", got)
	}
	if err := b.files.MarkEnded(b.mem, ""); err == nil {
		t.Error("a link was taken away, or followed")
	}

	// The folder may be a link within the project.
	b = newPlanBench(t)
	if err := os.Rename(b.path(".ralph"), b.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	link(b.path("elsewhere"), ".ralph")
	b.fails("red", "")
	link(outside, ".ralph")
	if err := b.files.UpdateProgress(b.mem, b.now); err == nil {
		t.Error("a folder outside of the project was taken")
	}
	if names, err := filepath.Glob(filepath.Join(outside, "*")); err != nil || len(names) != 1 {
		t.Errorf("outside of the project: %q, %v", names, err)
	}
}

func TestPlanLoopLeavesAllElseAlone(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t)
	others := map[string]string{
		".ralph/session.log": "Read: a\n", ".ralph/.agent-lock": "1\n", ".ralph/PRD-2/current-story": "US-001\n",
		planDir + "activity.log": "x\n", planDir + "runs/run-1-iter-1.md": "x\n",
	}
	for file, text := range others {
		b.write(file, text)
	}
	b.fails("red", "x")
	b.ends(loop.ByStop)
	for file, text := range others {
		if got := b.read(file); got != text {
			t.Errorf("%s: %q", file, got)
		}
	}
}
