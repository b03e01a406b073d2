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

	"github.com/pawl-dev/pawl/internal/statefile"
)

const (
	loops        = ".claude/data/ralph-loops"
	current      = loops + "/current"
	featureJSON  = `{"features":[{"id":1,"description":"One","passes":true},{"id":2,"description":"Two","passes":false}],"total_features":2}`
	progressText = "# Progress\n\n- Iteration: 3\n- Max Iterations: 5\n- Status: IN_PROGRESS\n\nnotes\n"
)

// project is a folder with files, one hour into a session.
type project struct {
	t    *testing.T
	root string
	dir  string // RALPH_LOOP_DIR
	home string
	c    statefile.SessionInfo
}

func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	p := &project{t: t, root: root, home: t.TempDir(), c: statefile.SessionInfo{
		SessionID: "s", SessionStarted: now.Add(-time.Hour), Now: now,
		Tracked: func(string) (bool, error) { return false, nil },
		ByAgent: func(string, ...string) bool { return false },
	}}
	for name, text := range files {
		p.write(name, text)
	}
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

func (p *project) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// ages makes files older than the session.
func (p *project) ages(names ...string) {
	p.t.Helper()
	for _, name := range names {
		if err := os.Chtimes(p.path(name), time.Time{}, p.c.SessionStarted.Add(-time.Hour)); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *project) link(target, name string) {
	p.t.Helper()
	err := os.Symlink(filepath.FromSlash(target), p.path(name))
	if err != nil && runtime.GOOS == "windows" {
		p.t.Skip("who may make links here is up to the system:", err)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(p.path(name)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) place() statefile.Place {
	return statefile.Place{Root: p.root, RalphLoopDir: p.dir, ClientConfig: filepath.Join(p.home, ".claude")}
}

func featureFormat(t *testing.T) statefile.Format {
	t.Helper()
	f, ok := statefile.FormatByName("feature-list")
	if !ok {
		t.Fatal("there is no such format")
	}
	return f
}

// found returns where the state file is expected, relative to the project.
func (p *project) found() string {
	p.t.Helper()
	path := featureFormat(p.t).Find(p.place())
	if path == "" {
		return ""
	}
	rel, err := filepath.Rel(p.root, path)
	if err != nil {
		p.t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// proposes returns what is proposed for the found file: "none", "skip", "yes", or why not.
func (p *project) proposes() (string, statefile.Proposal) {
	p.t.Helper()
	f := featureFormat(p.t)
	path := f.Find(p.place())
	if path == "" {
		return "none", statefile.Proposal{}
	}
	got, err := f.Propose(path, p.place(), p.c)
	switch {
	case err != nil && (got.Skip || got.Refused != ""):
		p.t.Errorf("an error, and %+v", got)
	case err != nil:
		return "error: " + err.Error(), got
	case got.Skip:
		return "skip", got
	case got.Refused != "":
		return got.Refused, got
	}
	return "yes", got
}

func files(dir string) map[string]string {
	return map[string]string{dir + "/feature_list.json": featureJSON, dir + "/progress.txt": progressText, dir + "/RALPH_PROMPT.md": "\ufeffBuild it.\r\n"}
}

func TestFeatureLoopIsProposed(t *testing.T) {
	t.Parallel()
	p := newProject(t, files(current))
	why, got := p.proposes()
	want := statefile.Proposal{
		Prompt: "Build it.", Plan: p.path(current + "/feature_list.json"), MaxIterations: 5, MaxGiven: true, CountedIterations: 2, Handover: true,
	}
	if diff := cmp.Diff(want, got); diff != "" || why != "yes" {
		t.Errorf("%s (-want +got):\n%s", why, diff)
	}
	p.remove(current + "/RALPH_PROMPT.md")
	p.remove(current + "/progress.txt")
	why, got = p.proposes()
	want.Prompt, want.MaxIterations, want.CountedIterations = "", 15, 0
	if diff := cmp.Diff(want, got); diff != "" || why != "yes" {
		t.Errorf("the list alone: %s (-want +got):\n%s", why, diff)
	}
}

// Files that the session's agent may have written are no consent to unattended sessions. In an
// unattended session, or if the user named the folder, there is consent.
func TestFeatureHandoverNeedsConsent(t *testing.T) {
	t.Parallel()
	yes := func(p *project) {
		p.c.ByAgent = func(_ string, names ...string) bool { return slices.Contains(names, "feature_list.json") }
	}
	tests := []struct {
		name    string
		arrange func(p *project)
		want    bool
	}{
		{"written by the user", func(*project) {}, true},
		{"written by the agent", yes, false},
		{"nobody can tell", func(p *project) { p.c.ByAgent = nil }, false},
		{"written by the agent, named by the user", func(p *project) { yes(p); p.dir = current }, true},
		{"written by the agent, nobody there", func(p *project) { yes(p); p.c.Unattended = true }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, files(current))
			tt.arrange(p)
			why, got := p.proposes()
			if why != "yes" || got.Handover != tt.want || strings.Contains(got.StartMessage, "pawl handover") == tt.want {
				t.Errorf("%s: %+v", why, got)
			}
		})
	}
}

// TestFeatureFolderIsFound checks the rows of docs/reference/feature-loop.md on where a loop is and who
// may follow it, by name.
func TestFeatureFolderIsFound(t *testing.T) {
	t.Parallel()
	const several = loops + " holds several loops: start the client with RALPH_LOOP_DIR=" + loops + "/a or " + loops + "/b, or make current a link to the right one"
	tests := []struct {
		name    string
		arrange func(p *project)
		found   string
		want    string
	}{
		{"no folder", func(p *project) { p.remove(".claude") }, "", "none"},
		{"current", func(*project) {}, current + "/progress.txt", "yes"},
		{"current is a link", func(p *project) { p.rename(current, loops+"/todo"); p.link("todo", current) }, current + "/progress.txt", "yes"},
		{"current points outside the project", func(p *project) {
			outside := p.t.TempDir()
			p.remove(current)
			p.link(outside, current)
			if err := os.WriteFile(filepath.Join(outside, "feature_list.json"), []byte(featureJSON), 0o600); err != nil {
				p.t.Fatal(err)
			}
		}, current + "/progress.txt", current + "/feature_list.json is outside the project"},
		{"one named folder", func(p *project) { p.rename(current, loops+"/todo") }, loops + "/todo/progress.txt", "yes"},
		{"one named folder, with two names", func(p *project) { p.rename(current, loops+"/todo"); p.link("todo", loops+"/also") }, loops + "/also/progress.txt", "yes"},
		{"current before named folders", func(p *project) { p.add(files(loops + "/todo")) }, current + "/progress.txt", "yes"},
		{"several named folders", func(p *project) { p.rename(current, loops+"/a"); p.add(files(loops + "/b")) }, loops, several},
		{"several, one not ended", func(p *project) {
			p.rename(current, loops+"/a")
			p.add(files(loops + "/b"))
			p.write(loops+"/a/progress.txt", "- Status: REACHED_LIMIT\n")
		}, loops + "/b/progress.txt", "yes"},
		{"several, all old", func(p *project) {
			p.rename(current, loops+"/a")
			p.add(files(loops + "/b"))
			p.ages(loops+"/a/progress.txt", loops+"/b/progress.txt")
		}, loops, several},
		{"named by RALPH_LOOP_DIR", func(p *project) {
			p.rename(current, "work")
			p.dir = "work"
			p.ages("work/progress.txt")
			p.c.Tracked = func(string) (bool, error) { return true, nil }
		}, "work/progress.txt", "yes"},
		{"named, absolute", func(p *project) { p.rename(current, "work"); p.dir = p.path("work") }, "work/progress.txt", "yes"},
		{"named, outside", func(p *project) { p.dir = "../" }, "../progress.txt", "OUTSIDE is outside the project"},
		{"named, not there", func(p *project) { p.dir = "work" }, "work/progress.txt", "error: RALPH_LOOP_DIR is work, and there is no such folder"},
		{"the list is missing", func(p *project) { p.remove(current + "/feature_list.json") }, current + "/progress.txt", "error: there is no " + current + "/feature_list.json"},
		{"the list is missing, and old", func(p *project) { p.remove(current + "/feature_list.json"); p.ages(current + "/progress.txt") }, current + "/progress.txt", "skip"},
		{"the list is broken", func(p *project) { p.write(current+"/feature_list.json", "{") }, current + "/progress.txt", "error: " + current + "/feature_list.json:1: this is not JSON: it ends too early"},
		{"a feature that is none", func(p *project) { p.write(current+"/feature_list.json", "[1]") }, current + "/progress.txt", "yes"}, // its codec reports the error
		{"everything passes", func(p *project) {
			p.write(current+"/feature_list.json", strings.ReplaceAll(featureJSON, "false", "true"))
		}, current + "/progress.txt", "skip"},
		{"old", func(p *project) { p.ages(current + "/progress.txt") }, current + "/progress.txt", current + "/progress.txt is too old to start by itself; to start it:  ! pawl start " + current + "/progress.txt"},
		{"tracked", func(p *project) {
			p.c.Tracked = func(path string) (bool, error) { return path == p.path(current+"/progress.txt"), nil }
		}, current + "/progress.txt", "git tracks " + current + "/progress.txt, so it may have come with a clone; if it is yours: RALPH_LOOP_DIR=" + current + " claude"},
		{"no progress.txt, and a list that is tracked", func(p *project) {
			p.remove(current + "/progress.txt")
			p.c.Tracked = func(path string) (bool, error) { return path == p.path(current+"/feature_list.json"), nil }
		}, current + "/progress.txt", "git tracks " + current + "/feature_list.json, so it may have come with a clone; if it is yours: RALPH_LOOP_DIR=" + current + " claude"},
		{"git cannot tell", func(p *project) { p.c.Tracked = func(string) (bool, error) { return false, errors.New("no git") } }, current + "/progress.txt", "error: no git"},
		{"COMPLETE, but it is not", func(p *project) { p.write(current+"/progress.txt", "- Status: COMPLETE\n") }, current + "/progress.txt", current + "/progress.txt says COMPLETE, but 1 of the features do not pass: set its Status to IN_PROGRESS to continue"},
		{"REACHED_LIMIT", func(p *project) { p.write(current+"/progress.txt", "- Status: REACHED_LIMIT\n") }, current + "/progress.txt", "skip"},
		{"not a number", func(p *project) { p.write(current+"/progress.txt", "- Iteration: three\n") }, current + "/progress.txt", "error: " + current + `/progress.txt:1: Iteration is "three": expected a whole number`},
		{"binary", func(p *project) { p.write(current+"/progress.txt", "\x00") }, current + "/progress.txt", "error: " + current + "/progress.txt:1: this is not UTF-8 text: expected a file saved as UTF-8"},
		{"binary and old", func(p *project) { p.write(current+"/progress.txt", "\x00"); p.ages(current + "/progress.txt") }, current + "/progress.txt", "skip"},
		{"the goal is binary", func(p *project) { p.write(current+"/RALPH_PROMPT.md", "\xff") }, current + "/progress.txt", "error: " + current + "/RALPH_PROMPT.md is not UTF-8 text"},
		{"the controller is at work", func(p *project) {
			p.write(".claude/settings.local.json", `{"hooks":{"Stop":[{"hooks":[{"command":"python .claude/hooks/ralph_loop_controller.py"}]}]}}`)
		}, current + "/progress.txt", "a Stop hook in .claude/settings.local.json controls such loops; remove it to let pawl follow the loop"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, files(current))
			tt.arrange(p)
			if got := p.found(); got != tt.found {
				t.Errorf("found %q, want %q", got, tt.found)
			}
			want := strings.ReplaceAll(tt.want, "OUTSIDE", filepath.Join(filepath.Dir(p.root), "feature_list.json"))
			if got, _ := p.proposes(); got != want {
				t.Errorf("proposes %q, want %q", got, want)
			}
		})
	}
}

func (p *project) rename(from, to string) {
	p.t.Helper()
	if err := os.Rename(p.path(from), p.path(to)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) add(files map[string]string) {
	for name, text := range files {
		p.write(name, text)
	}
}
