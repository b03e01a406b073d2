package planfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
)

// copied returns a copy of the backlog in testdata.
func copied(t *testing.T) string {
	t.Helper()
	at := t.TempDir()
	if err := os.CopyFS(at, os.DirFS(filepath.Join("testdata", "projects", "backlog"))); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(at, "backlog", "tasks")
}

func files(t *testing.T, at string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(at, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

// A tick changes the status and the criteria in the task's file, and no other file.
func TestAFolderIsTickedInPlace(t *testing.T) {
	t.Parallel()
	at := copied(t)
	f, err := planfile.Load(at)
	if err != nil {
		t.Fatal(err)
	}
	was := files(t, at)
	done, err := f.Tick("task-2.1")
	if err != nil {
		t.Fatal(err)
	}
	if got := done.ChangedFiles("backlog/tasks", f); len(got) != 1 || got["backlog/tasks/task-2.1 - CSV.md"] == nil {
		t.Errorf("changed: %v", got)
	}
	if err := planfile.Write(at, done); err != nil {
		t.Fatal(err)
	}
	want := was["task-2.1 - CSV.md"]
	want = strings.Replace(want, "status: To Do", "status: Done", 1)
	want = strings.Replace(want, "- [ ] #1 cells", "- [x] #1 cells", 1)
	was["task-2.1 - CSV.md"] = want
	if diff := cmp.Diff(was, files(t, at)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// A folder is restored as it was. Files that are not tasks stay.
func TestAFolderIsPutBack(t *testing.T) {
	t.Parallel()
	at := copied(t)
	f, err := planfile.Load(at)
	if err != nil {
		t.Fatal(err)
	}
	was := files(t, at)
	for name, text := range map[string]string{"task-1 - Set-up-the-project.md": "", "task-11 - New.md": "---\nid: task-11\nstatus: To Do\n---\n"} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := planfile.Load(at); err != nil || len(now.Plan().Tasks) != 4 {
		t.Errorf("with a task more and one less: %v", err)
	}
	if err := planfile.Write(at, f); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, files(t, at)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestFoldersThatAreNoPlan(t *testing.T) {
	t.Parallel()
	at := copied(t)
	for dir, want := range map[string]string{filepath.Dir(at): "name the folder of its tasks", t.TempDir(): "is a folder, not a plan"} {
		_, err := planfile.Load(dir)
		if err == nil || !strings.Contains(err.Error()+failure.Hint(err), want) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := os.WriteFile(filepath.Join(at, "task-3 - Bad.md"), []byte("---\nid: task-1\nstatus: To Do\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := planfile.Load(at); err == nil || !strings.Contains(err.Error(), `task id "task-1" is used twice`) {
		t.Errorf("an id twice: %v", err)
	}
}
