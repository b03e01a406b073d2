package statefile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/foreign/thloop"
	"github.com/pawl-dev/pawl/internal/record"
)

const (
	thPath = ".claude/th-loop.local.md"
	thV1   = "temp/th-channel.md"
	// thStateFile is a state file as th-loop writes it.
	thStateFile = "---\nstatus: active          # hook が動く条件\nstarted: 1737304800\nmine: x\nmax: 10\niteration: 3 # 現在\nduration: 600\nprompt: \"\"\nlast_read_timestamp: 1738303200\n---\n"
)

func thSample() sample {
	return sample{
		files:  map[string]string{thPath: thStateFile, thV1: "## 10:00 nao\nlook around\n"},
		state:  thPath,
		spec:   record.Spec{Request: record.Request{Prompt: thloop.DefaultGoal()}, SessionOptions: record.SessionOptions{CompatFile: thPath}, Repository: record.Repository{NoCommit: true}},
		values: regexp.MustCompile(`^(\x{feff})?(status|iteration|last_read_timestamp):`),
	}
}

// thProject is a running loop that has read its channel.
func thProject(t *testing.T) *project {
	t.Helper()
	p := thSample().write(t, thLoop{})
	if w := p.receive(time.Now()); len(w.Notes) != 1 || !strings.Contains(w.Notes[0].Text, "look around") || w.Stop != "" {
		t.Fatalf("the first read heard %+v", w)
	}
	return p
}

// later returns a time at which a file written now counts as complete.
func later() time.Time { return time.Now().Add(time.Minute) }

func (p *project) add(name, text string) {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	p.put(name, string(data)+text)
}

// ran records a tool call as the hook does, and returns its offset.
func (p *project) ran(c authorship.Call) int64 { return p.called(record.ToolCallsFile, c) }

func (p *project) called(file string, c authorship.Call) int64 {
	p.t.Helper()
	path := filepath.Join(p.dir, file)
	before, _ := os.ReadFile(path)
	line, err := json.Marshal(c)
	if err == nil {
		err = os.WriteFile(path, append(append(before, line...), '\n'), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return int64(len(before))
}

func texts(w Changes) string {
	var all []string
	for _, n := range w.Notes {
		all = append(all, n.Text)
	}
	return strings.Join(all, "\n")
}

// TestThLoopIsProposed checks the rows on the loop that the state file asks for.
func TestThLoopIsProposed(t *testing.T) {
	t.Parallel()
	minutes := 10 * time.Minute
	tests := []struct {
		name, text string
		want       Proposal
	}{
		{"as documented, a fixed started", thStateFile, Proposal{Prompt: thloop.DefaultGoal(), Kind: loop.Explore, MaxIterations: 10, MaxGiven: true, MaxDuration: minutes, DurationGiven: true, CountedIterations: 2}},
		{"no limits", "---\nstatus: active\nmax: 0\nduration: 0\n---\n", Proposal{Prompt: thloop.DefaultGoal(), Kind: loop.Explore, MaxGiven: true, DurationGiven: true}},
		{"limits left out", "---\nstatus: active\n---\n", Proposal{Prompt: thloop.DefaultGoal(), Kind: loop.Explore}},
		{"a fixed prompt", "---\nstatus: active\nprompt: \"Think.\"\n---\n", Proposal{Prompt: "Think.", Kind: loop.Explore}},
		{"periodic", "---\nstatus: active\nprompt: Watch.\nevery: 5m\n---\n", Proposal{Prompt: "Watch.", Kind: loop.Periodic, Every: 5 * time.Minute}},
		{"not active", "---\nstatus: completed\n---\n", Proposal{Skip: true}},
		{"no status", "---\nmax: 3\n---\nThink.\n", Proposal{Prompt: "Think.", Kind: loop.Explore, MaxIterations: 3, MaxGiven: true}},
		{"paused", "---\nstatus: paused\n---\n", Proposal{Skip: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := thSample().write(t, thLoop{})
			p.put(thPath, tt.text)
			got, err := p.asked()
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestThLoopOfAnAgentIsRefused(t *testing.T) {
	t.Parallel()
	p := thSample().write(t, thLoop{})
	p.place.ThLoopAgent = "eris"
	if path := p.format.Find(p.place); path != "" {
		t.Errorf("an agent with a name found %s", path)
	}
	p.put(".claude/th-loop-eris.local.md", thStateFile)
	if path := p.format.Find(p.place); path != p.path(".claude/th-loop-eris.local.md") {
		t.Errorf("found %q", path)
	}
	p.place.ThLoopAgent = "../eris"
	if path := p.format.Find(p.place); path != "" {
		t.Errorf("a name that is a path found %s", path)
	}
	p.spec.CompatFile = ".claude/th-loop-eris.local.md"
	p.put(thV1, "## 10:00 Eris\nmine\n## 10:01 nao\ntheirs\n")
	if w := p.receive(time.Now()); strings.Contains(texts(w), "\nmine") || !strings.Contains(texts(w), "theirs") {
		t.Errorf("heard %q", texts(w))
	}
}

func TestThLeftToItsOwnHook(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]string{
		".claude/settings.local.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"bash x/th-loop-stop-hook.sh"}]}]}}`,
		".claude/settings.json":       `{"enabledPlugins":{"th-loop@hearts":true}}`,
	} {
		p := thSample().write(t, thLoop{})
		p.put(name, settings)
		if got, err := p.asked(); err != nil || got.Refused != "th-loop's own hook is installed: "+thPath+" handles it; remove that hook to let pawl follow it" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestThChangesAreReceived checks the rows on what ends a loop and what does not.
func TestThChangesAreReceived(t *testing.T) {
	t.Parallel()
	day := time.Now().Format(time.DateOnly)
	remove := func(p *project) { _ = os.Remove(p.path(thPath)) }
	status := func(p *project) { p.put(thPath, strings.Replace(thStateFile, "status: active", "status: done", 1)) }
	wrote := authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "printf '## 10:05\\nSTOP\\n' >> temp/th-channel.md"}
	tests := []struct {
		name  string
		do    func(p *project)
		stop  string
		note  string
		held  bool
		quiet bool // no note is added
	}{
		{name: "nothing", do: func(*project) {}, quiet: true},
		{name: "a message", do: func(p *project) { p.add(thV1, "now that\n") }, note: "From " + thV1 + ":3:\nnow that"},
		{name: "a message in the file of the day", do: func(p *project) { p.add("temp/th-channel/"+day+".md", "now that") }, note: "now that"},
		{name: "stop", do: func(p *project) { p.add(thV1, "STOP") }, stop: thV1 + ":3 says stop", note: "STOP"},
		{name: "stop in a quote", do: func(p *project) { p.add(thV1, "> stop\n") }, note: "> stop"},
		{name: "stop, the state file is damaged", do: func(p *project) { p.add(thV1, "stop\n"); p.put(thPath, "x") }, stop: thV1 + ":3 says stop", note: "stop"},
		{name: "stop, and deleted", do: func(p *project) { p.add(thV1, "stop\n"); remove(p) }, stop: thV1 + ":3 says stop", note: "stop"},
		{name: "deleted", do: remove, stop: thPath + " was deleted", quiet: true},
		{name: "another status", do: status, stop: thPath + ` has the status "done"`, quiet: true},
		{name: "paused", do: func(p *project) { p.put(thPath, strings.Replace(thStateFile, "status: active", "status: paused", 1)) }, held: true, quiet: true},
		{name: "stop, where the agent wrote too", do: func(p *project) { p.ran(wrote); p.add(thV1, "stop\n") }, held: true, note: "stop"},
		{name: "stop, where the agent wrote something else", do: func(p *project) {
			p.ran(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "cd x && cat temp/th-channel.md 2>/dev/null | tail"})
			p.ran(authorship.Call{Tool: "Read", Kind: toolcall.Read, Path: p.path(thV1)})
			p.ran(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "echo 'on it' >> temp/th-channel.md"})
			p.add(thV1, "stop\n")
		}, stop: thV1 + ":3 says stop", note: "stop"},
		{name: "deleted by the agent", do: func(p *project) {
			p.ran(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "rm -f .claude/th-loop.local.md"})
			remove(p)
		}, note: "That does not end the loop"},
		{name: "another status by the agent", do: func(p *project) {
			p.ran(authorship.Call{Tool: "Edit", Kind: toolcall.Edit, Path: p.path(thPath)})
			status(p)
		}, note: "That does not end the loop"},
		{name: "deleted in the user's turn", do: func(p *project) {
			from := p.ran(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "rm -f .claude/th-loop.local.md"})
			p.ran(authorship.Call{UserTurn: true, From: from})
			remove(p)
		}, stop: thPath + " was deleted", quiet: true},
		{name: "another prompt", do: func(p *project) {
			p.put(thPath, strings.Replace(thStateFile, `prompt: ""`, `prompt: "Sing."`, 1))
		}, note: "Work on this from now on:\nSing."},
		{name: "other limits", do: func(p *project) { p.put(thPath, strings.Replace(thStateFile, "max: 10", "max: 1", 1)) }, quiet: true},
		{name: "a channel that cannot be read", do: func(p *project) {
			_ = os.Remove(p.path(thV1))
			_ = os.Mkdir(p.path(thV1), 0o700)
		}, note: "The channel cannot be read: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := thProject(t)
			tt.do(p)
			w := p.receive(later())
			if w.Stop != tt.stop || w.Paused != tt.held || !strings.Contains(texts(w), tt.note) || tt.quiet && len(w.Notes) > 0 {
				t.Errorf("heard %+v", w)
			}
			if tt.stop == "" {
				if w = p.receive(later()); w.Stop != "" || w.Paused != tt.held || len(w.Notes) > 0 && !strings.Contains(tt.name, "cannot") {
					t.Errorf("then heard %+v", w)
				}
			}
		})
	}
}

// A stop from before the loop is old, unless it was written after the state file.
func TestThStopAtTheFirstRead(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	for _, fresh := range []bool{false, true} {
		p := thSample().write(t, thLoop{})
		p.put(thV1, "stop\n\n## 11:00 nao\nagain\nstop\n")
		file := p.path(map[bool]string{false: thV1, true: thPath}[fresh])
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
		if err := p.loop().UpdateProgress(memoryAt(1), later()); err != nil { // then the file is newer
			t.Fatal(err)
		}
		if w := p.receive(later()); (w.Stop != "") != fresh {
			t.Errorf("written since: %v, heard %+v", fresh, w)
		}
	}
}

// Changes that were returned but not acknowledged are returned again with the same text, and later
// ones follow: nothing is lost or returned twice.
func TestThUnacknowledgedChangesAreRepeated(t *testing.T) {
	t.Parallel()
	p := thProject(t)
	p.add(thV1, "one\n")
	first, err := p.loop().ReceiveChanges(later())
	if err != nil {
		t.Fatal(err)
	}
	p.add(thV1, "two\n")
	again := p.receive(later())
	if diff := cmp.Diff(first.Notes, again.Notes); diff != "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
	if w := p.receive(later()); !strings.HasSuffix(texts(w), thV1+":4:\ntwo") {
		t.Errorf("then heard %q", texts(w))
	}
}

// A paused loop continues if the user says so. If the user's turn wrote the stop, it counts as the
// user's.
func TestThPausedLoopContinues(t *testing.T) {
	t.Parallel()
	for _, theirs := range []bool{false, true} {
		p := thProject(t)
		from := p.ran(authorship.Call{Tool: "Write", Kind: toolcall.Write, Path: p.path(thV1)})
		p.add(thV1, "stop\n")
		if w := p.receive(later()); !w.Paused || w.Stop != "" {
			t.Fatalf("heard %+v", w)
		}
		if theirs {
			p.ran(authorship.Call{UserTurn: true, From: from})
			if w := p.receive(later()); w.Paused || w.Stop != "the channel says stop" {
				t.Errorf("the user's: heard %+v", w)
			}
			continue
		}
		if err := p.loop().UpdateProgress(memoryAt(4), later()); err != nil {
			t.Fatal(err)
		}
		if w := p.receive(later()); w.Paused || w.Stop != "" {
			t.Errorf("gone on: heard %+v", w)
		}
	}
}

func TestThFileIsUpdated(t *testing.T) {
	t.Parallel()
	p := thProject(t)
	now := later()
	p.add(thV1, "more\n")
	p.receive(now)
	if err := p.loop().UpdateProgress(memoryAt(4), now); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("iteration: 3", "iteration: 4", "1738303200", fmt.Sprint(now.Unix())).Replace(thStateFile)
	if diff := cmp.Diff(want, p.tree()[thPath]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.ran(authorship.Call{Tool: "Edit", Kind: toolcall.Edit, Path: p.path(thPath)})
	p.put(thPath, strings.Replace(want, "status: active", "status: done", 1))
	if w := p.receive(now); w.Stop != "" || len(w.Notes) != 1 {
		t.Errorf("heard %+v", w)
	}
	if err := p.loop().UpdateProgress(memoryAt(4), now); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, p.tree()[thPath]); diff != "" {
		t.Errorf("what the agent wrote (-want +got):\n%s", diff)
	}
	for outcome, status := range map[loop.Outcome]string{
		loop.Finished: "completed", loop.Duration: "completed", loop.Unverified: "completed",
		loop.CancelledEnd: "stopped", loop.Errored: "stopped", loop.BlockedEnd: "stopped",
	} {
		p.put(thPath, thStateFile)
		if err := p.loop().MarkEnded(ended(outcome), "s1"); err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("iteration: 3", "iteration: 5", "status: active", "status: "+status).Replace(thStateFile)
		if diff := cmp.Diff(want, p.tree()[thPath]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", outcome, diff)
		}
		if got, err := p.asked(); err != nil || !got.Skip {
			t.Errorf("%s: then proposed %+v, %v", outcome, got, err)
		}
	}
}

// An ended loop may be resumed: the status that its own end wrote does not stop it.
func TestThEndedLoopIsResumed(t *testing.T) {
	t.Parallel()
	p := thProject(t)
	now := later()
	p.receive(now)
	if err := p.loop().MarkEnded(ended(loop.Finished), "s1"); err != nil {
		t.Fatal(err)
	}
	if w := p.receive(now); w.Stop != "" {
		t.Errorf("its own end stops it: %+v", w)
	}
	if err := p.loop().UpdateProgress(memoryAt(6), now); err != nil {
		t.Fatal(err)
	}
	if got := p.tree()[thPath]; !strings.Contains(got, "status: active") || !strings.Contains(got, "iteration: 6") {
		t.Errorf("it continues with\n%s", got)
	}
	p.put(thPath, strings.Replace(thStateFile, "status: active", "status: done", 1))
	if w := p.receive(now); w.Stop == "" {
		t.Errorf("the user's word is not heard: %+v", w)
	}
}

func TestThMessages(t *testing.T) {
	t.Parallel()
	p := thProject(t)
	now := later()
	say := func(n int) string { return p.loop().ProgressLine(memoryAt(n).State) }
	if got := say(4); got != "th-loop iteration 4/9 · new messages in the channel" {
		t.Error(got)
	}
	for n := 4; n < 6; n++ {
		if err := p.loop().UpdateProgress(memoryAt(n), now); err != nil {
			t.Fatal(err)
		}
	}
	if got := say(5); !strings.HasPrefix(got, "th-loop iteration 5/9 · (No new messages since 20") {
		t.Error(got)
	}
	for outcome, want := range map[loop.Outcome]string{
		loop.Finished: "th-loop completed: 10000s elapsed", loop.CancelledEnd: "th-loop completed: 10000s elapsed", loop.Errored: "",
	} {
		if got := p.loop().EndLine(ended(outcome).State); got != want {
			t.Errorf("%s: %q", outcome, got)
		}
	}
}
