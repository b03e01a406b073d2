package statefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

func ralphProject(t *testing.T) *project { return ralphSample().write(t, ralphLoop{}) }

func TestRalphLoopIsProposed(t *testing.T) {
	t.Parallel()
	got, err := ralphProject(t).asked()
	want := Proposal{Prompt: "Do it.\n---\niteration: 3", Promise: "DONE", CountedIterations: 2, MaxIterations: 9, MaxGiven: true}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// A file of another session is ignored. A file that came with the repository, or that the original
// plugin follows, is refused.
func TestRalphLoopOfOthersIsIgnored(t *testing.T) {
	t.Parallel()
	p := ralphProject(t)
	ask := func(session string, tracked bool) Proposal {
		t.Helper()
		got, err := p.format.Propose(p.path(p.state), p.place, SessionInfo{
			SessionID: session, Now: time.Now(), Tracked: func(string) (bool, error) { return tracked, nil },
		})
		if err != nil {
			t.Error(err)
		}
		return got
	}
	if got := ask("s2", false); !got.Skip || got.Refused != "" {
		t.Errorf("another session's: %+v", got)
	}
	if got := ask("s1", true); got.Skip || !strings.Contains(got.Refused, "git tracks") {
		t.Errorf("tracked: %+v", got)
	}
	settings := filepath.Join(p.dir, ".claude", "settings.json")
	for text, refused := range map[string]bool{
		`{"enabledPlugins":{"ralph-wiggum@x":true}}`: true,
		`{"enabledPlugins":{"ralph-loop@x":false}}`:  false,
		`{"enabledPlugins":`:                         false,
	} {
		if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ask("s1", false); refused != (got.Refused != "") {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// Another prompt is told once, and is the goal from then on; the old one again is another.
func TestRalphLoopReceivesANewPrompt(t *testing.T) {
	t.Parallel()
	p := ralphProject(t)
	first := p.files[p.state]
	second := strings.Replace(first, "Do it.", "Do that.", 1)
	if err := p.loop().UpdateProgress(memory.Memory{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i, text := range []string{first, second, second, first, second} {
		p.put(p.state, text)
		at := time.Now().Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(p.path(p.state), at, at); err != nil {
			t.Fatal(err)
		}
		w, err := p.loop().ReceiveChanges(at)
		again, err2 := p.loop().ReceiveChanges(at)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if i == 0 || i == 2 {
			if len(w.Notes) > 0 {
				t.Errorf("%d: told %v", i, w.Notes)
			}
			continue
		}
		if diff := cmp.Diff(w.Notes, again.Notes); diff != "" || len(w.Notes) != 1 || ids[w.Notes[0].ID] {
			t.Fatalf("%d: %v\n%s", i, w.Notes, diff)
		}
		ids[w.Notes[0].ID] = true
		if err := w.Acknowledge(); err != nil {
			t.Fatal(err)
		}
		goal := p.loop().(GoalSource).Goal()
		if !strings.HasSuffix(w.Notes[0].Text, goal) || !strings.Contains(text, goal) {
			t.Errorf("%d: the goal is %q, told %q", i, goal, w.Notes[0].Text)
		}
	}
}

// Deleting the file cancels the loop, active: false pauses it.
func TestRalphLoopReceivesChanges(t *testing.T) {
	t.Parallel()
	p := ralphProject(t)
	p.put(p.state, strings.Replace(p.files[p.state], "active: true", "active: false", 1))
	if w := p.receive(time.Now()); !w.Paused || w.Stop != "" {
		t.Errorf("not active: %+v", w)
	}
	if err := os.Remove(p.path(p.state)); err != nil {
		t.Fatal(err)
	}
	if w := p.receive(time.Now()); w.Stop != p.state+" was deleted" {
		t.Errorf("deleted: %+v", w)
	}
	if err := p.loop().UpdateProgress(memoryAt(4), time.Now()); err != nil || len(p.tree()) > 0 {
		t.Errorf("it is back: %v, %v", p.tree(), err)
	}
}

// The file is removed with its loop, unless it belongs to another loop.
func TestRalphLoopEnds(t *testing.T) {
	t.Parallel()
	p := ralphProject(t)
	if err := p.loop().MarkEnded(ended(loop.Verified), "s2"); err != nil || len(p.tree()) == 0 {
		t.Errorf("another's: %v, %v", p.tree(), err)
	}
	if err := p.loop().MarkEnded(ended(loop.Verified), "s1"); err != nil || len(p.tree()) > 0 {
		t.Errorf("ours: %v, %v", p.tree(), err)
	}
	again := strings.Replace(p.files[p.state], "iteration: 3", "iteration: 1", 1)
	p.put(p.state, again) // the user begins another loop before the second of the two that mark the end
	if err := p.loop().MarkEnded(ended(loop.Verified), "s1"); err != nil || p.tree()[p.state] != again {
		t.Errorf("a new file: %v, %v", p.tree(), err)
	}
	want := map[loop.Outcome]string{
		loop.Iterations: "🛑 Ralph loop: Max iterations (9) reached.", loop.Verified: "✅ Ralph loop: Detected <promise>DONE</promise>",
		loop.CancelledEnd: "Cancelled Ralph loop (was at iteration 5)", loop.Stuck: "",
	}
	for outcome, text := range want {
		if got := p.loop().EndLine(ended(outcome).State); got != text {
			t.Errorf("%s: %q", outcome, got)
		}
	}
}

// A resumed loop has its file again, and receives its deletion.
func TestRalphLoopIsResumed(t *testing.T) {
	t.Parallel()
	p := ralphProject(t)
	if err := p.loop().MarkEnded(ended(loop.Iterations), "s1"); err != nil {
		t.Fatal(err)
	}
	if w := p.receive(time.Now()); w.Stop != "" {
		t.Errorf("what the loop did is taken for the user's word: %+v", w)
	}
	if err := p.loop().UpdateProgress(memoryAt(6), time.Now()); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(p.files[p.state], "iteration: 3 # so far", "iteration: 6 # so far", 1)
	if diff := cmp.Diff(want, p.tree()[p.state]); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(p.path(p.state)); err != nil {
		t.Fatal(err)
	}
	if w := p.receive(time.Now()); w.Stop == "" {
		t.Error("deleting it is not heard any more")
	}
}

// A loop from before there were formats has the only one of that time.
func TestLoopsFromBeforeTheFormats(t *testing.T) {
	t.Parallel()
	p := ralphProject(t)
	p.spec.CompatFormat = ""
	if line := p.loop().ProgressLine(memoryAt(4).State); !strings.HasPrefix(line, "🔄 Ralph iteration 4 ") {
		t.Errorf("line: %q", line)
	}
	p.spec.CompatFormat = "of a newer version"
	if own := p.loop().OwnPaths(); own != nil {
		t.Errorf("an unknown format owns %q", own)
	}
	if p.spec.CompatFile = ""; len(p.loop().OwnPaths()) > 0 || p.receive(time.Now()).Stop != "" {
		t.Error("a loop without files has some")
	}
}
