package statefile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/statefile"
)

// follow returns the files of a running loop in the current folder.
func (p *project) follow() statefile.Files {
	return statefile.FilesOf(p.root, p.t.TempDir(), record.Spec{SessionOptions: record.SessionOptions{CompatFile: current + "/progress.txt", CompatFormat: "feature-list"}, Request: record.Request{Plan: current + "/feature_list.json"}})
}

func running(iteration int) loop.State {
	return loop.State{Policy: loop.Policy{Limits: loop.Limits{Iterations: 5}}, Tasks: []loop.Task{{ID: "1", Title: "One", Status: loop.Done}, {ID: "2", Title: "Two", Status: loop.Open}, {ID: loop.FinalTask, Title: "Make the gates pass"}}, Counts: loop.Counts{Iteration: iteration}, Work: loop.Work{Current: "2"}}
}

// TestFeatureFilesAreUpdated checks the rows on what is written while a loop is running.
func TestFeatureFilesAreUpdated(t *testing.T) {
	t.Parallel()
	ended := func(o loop.Outcome) loop.State { s := running(5); s.Outcome = o; return s }
	at := func(iteration, status string) string {
		return strings.NewReplacer("Iteration: 3", "Iteration: "+iteration, "IN_PROGRESS", status).Replace(progressText)
	}
	tests := []struct {
		name   string
		before string // progress.txt; "-" = none
		state  loop.State
		want   string
	}{
		{"a turn is given", progressText, running(4), at("4", "IN_PROGRESS")},
		{"nothing to write", progressText, running(3), progressText},
		{"the agent wrote COMPLETE", at("3", "COMPLETE"), running(4), at("4", "IN_PROGRESS")},
		{"the agent counted", at("99", "ON_FEATURE_2"), running(4), at("4", "IN_PROGRESS")},
		{"the agent raised the limit", strings.Replace(progressText, "Iterations: 5", "Iterations: 500", 1), running(4), at("4", "IN_PROGRESS")},
		{"the agent broke it", strings.Replace(progressText, "Iteration: 3", "Iteration: done", 1), running(4), at("4", "IN_PROGRESS")},
		{"progress.txt was deleted", "-", running(4), "# Ralph Loop Progress\n\n- Iteration: 4\n- Max Iterations: 5\n- Status: IN_PROGRESS\n"},
		{"binary", "\x00", running(4), "\x00"},
		{"verified", progressText, ended(loop.Verified), at("5", "COMPLETE")},
		{"the limit", progressText, ended(loop.Iterations), at("5", "REACHED_LIMIT")},
		{"cancelled", progressText, ended(loop.CancelledEnd), at("5", "CANCELLED")},
		{"unverified", progressText, ended(loop.Unverified), at("5", "UNVERIFIED")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, files(current))
			p.write(current+"/progress.txt", tt.before)
			if tt.before == "-" {
				p.remove(current + "/progress.txt")
			}
			f := p.follow()
			m := memory.Memory{State: tt.state}
			var err error
			if tt.state.Outcome == "" {
				err = f.UpdateProgress(m, p.c.Now)
			} else {
				err = f.MarkEnded(m, "s")
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, p.read(current+"/progress.txt")); diff != "" {
				t.Errorf("progress.txt (-want +got):\n%s", diff)
			}
			if got := p.read(current + "/feature_list.json"); got != featureJSON {
				t.Errorf("the list is %s", got)
			}
		})
	}
}

func TestFeatureChangesAreReceived(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		arrange func(p *project)
		want    string
		hint    string
	}{
		{"as it was", func(*project) {}, "", ""},
		{"a status ends nothing", func(p *project) { p.write(current+"/progress.txt", "- Status: COMPLETE\n") }, "", ""},
		{"progress.txt was deleted", func(p *project) { p.remove(current + "/progress.txt") }, "", ""},
		{"everything is said to pass", func(p *project) { p.write(current+"/feature_list.json", `[{"passes":true}]`) }, "", ""},
		{"the list is gone", func(p *project) { p.remove(current + "/feature_list.json") }, current + "/feature_list.json was deleted, so the open tasks are unknown", "restore it"},
		{"the list is broken", func(p *project) { p.write(current+"/feature_list.json", featureJSON[:20]) }, current + "/feature_list.json is now not a list of features", "restore it"},
		{"the list is empty", func(p *project) { p.write(current+"/feature_list.json", "[]") }, current + "/feature_list.json is now not a list of features", "restore it"},
		{"binary", func(p *project) { p.write(current+"/progress.txt", "\x00") }, current + "/progress.txt:1: this is not UTF-8 text: expected a file saved as UTF-8", "correct the file, or delete it to restart the count; pawl does not change it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, files(current))
			tt.arrange(p)
			w, err := p.follow().ReceiveChanges(p.c.Now)
			if diff := cmp.Diff(statefile.Changes{}, w); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
			if got := message(err); got != tt.want || failure.Hint(err) != tt.hint {
				t.Errorf("error %q with hint %q, want %q with %q", got, failure.Hint(err), tt.want, tt.hint)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A deleted folder is not created again.
func TestDeletedFeatureFolderIsNotCreated(t *testing.T) {
	t.Parallel()
	p := newProject(t, files(current))
	p.remove(current)
	f := p.follow()
	if err := f.UpdateProgress(memory.Memory{State: running(4)}, p.c.Now); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(p.path(current)); err == nil {
		t.Error("it is there again")
	}
}

func TestFeatureMessages(t *testing.T) {
	t.Parallel()
	f := newProject(t, nil).follow()
	if diff := cmp.Diff([]string{current + "/progress.txt"}, f.OwnPaths()); diff != "" {
		t.Errorf("own (-want +got):\n%s", diff)
	}
	s := running(4)
	if got, want := f.ProgressLine(s), "Ralph Loop iteration 4/5 | NEXT FEATURE (ID 2): Two"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	s.Current = loop.FinalTask
	if got, want := f.ProgressLine(s), "Ralph Loop iteration 4/5"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	said := map[loop.Outcome]string{
		loop.Verified:   "All 2 features verified. Loop complete.",
		loop.Iterations: "Max iterations (5) reached. 1 features remaining. remaining_features: 2",
	}
	for _, o := range loop.Outcomes() {
		s.Outcome = o
		if got := f.EndLine(s); got != said[o] {
			t.Errorf("%s: %q, want %q", o, got, said[o])
		}
	}
}
