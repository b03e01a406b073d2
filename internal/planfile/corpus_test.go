package planfile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/internal/planfile"
)

// TestRealPlansAreRead reads testdata/corpus/FORMAT.txtar: each folder is a project with a plan in its usual
// place. The plan is found, has that format and the tasks in want, and a tick follows the laws.
func TestRealPlansAreRead(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.txtar"))
	if err != nil || len(archives) < 6 {
		t.Fatalf("%d archives: %v", len(archives), err)
	}
	for _, path := range archives {
		format := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			root, wants := unpack(t, archive)
			projects, err := os.ReadDir(root)
			if err != nil || len(projects) < 10 {
				t.Fatalf("%d projects: %v", len(projects), err)
			}
			got := &txtar.Archive{Comment: archive.Comment}
			for _, p := range projects {
				words := describe(t, filepath.Join(root, p.Name()), format)
				for _, f := range archive.Files {
					if strings.HasPrefix(f.Name, p.Name()+"/") && filepath.Base(f.Name) != "want" {
						got.Files = append(got.Files, f)
					}
				}
				got.Files = append(got.Files, txtar.File{Name: p.Name() + "/want", Data: []byte(words)})
				if diff := cmp.Diff(wants[p.Name()], words); diff != "" && !*update {
					t.Errorf("%s (-want +got):\n%s", p.Name(), diff)
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// unpack writes the projects of an archive, and returns the wanted output of each.
func unpack(t *testing.T, archive *txtar.Archive) (root string, wants map[string]string) {
	t.Helper()
	root, wants = t.TempDir(), map[string]string{}
	for _, f := range archive.Files {
		if filepath.Base(f.Name) == "want" {
			wants[filepath.Dir(f.Name)] = string(f.Data)
			continue
		}
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		data := f.Data
		if strings.Contains(f.Name, "crlf") {
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root, wants
}

// describe finds the plan of a project, checks it by the laws, and lists its tasks and warnings.
func describe(t *testing.T, root, format string) string {
	t.Helper()
	found, err := planfile.Find(root)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %q: %v", root, found, err)
	}
	f, err := planfile.Load(filepath.Join(root, filepath.FromSlash(found[0])))
	if err != nil {
		t.Fatal(err)
	}
	if f.Plan().Format != format {
		t.Errorf("%s: it is a %s", root, f.Plan().Format)
	}
	for n := range f.Plan().Tasks {
		laws(t, found[0], f.Bytes(), uint(n))
	}
	var b strings.Builder
	for _, task := range f.Plan().Tasks {
		mark := " "
		if task.Done {
			mark = "x"
		}
		fmt.Fprintf(&b, "[%s] %s %s", mark, task.ID, task.Title)
		if len(task.DependsOn) > 0 {
			fmt.Fprintf(&b, " | after %s", strings.Join(task.DependsOn, ", "))
		}
		if task.Optional {
			b.WriteString(" | optional")
		}
		if task.Priority != 0 {
			fmt.Fprintf(&b, " | priority %d", task.Priority)
		}
		if task.Evidence != "" {
			fmt.Fprintf(&b, " | %s", task.Evidence)
		}
		b.WriteByte('\n')
	}
	for _, odd := range f.Warnings() {
		fmt.Fprintf(&b, "line %d: %s\n", odd.Line, odd.Message)
	}
	return b.String()
}
