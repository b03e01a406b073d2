package install

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// request returns a request for a settings file in a new folder.
func request(t *testing.T) Request {
	t.Helper()
	dir := t.TempDir()
	path, err := Local.Path(filepath.Join(dir, "repo"), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "repo"), 0o755); err != nil {
		t.Fatal(err)
	}
	return Request{Scope: Local, Path: path, Home: filepath.Join(dir, "home"), Entries: wanted()}
}

func put(t *testing.T, path, content string, perm fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), perm); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, perm); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// listing returns the paths below a folder.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestSettingsPathOfEachScope(t *testing.T) {
	t.Parallel()
	for scope, want := range map[Scope]string{
		User: "c/settings.json", Project: "r/.claude/settings.json", Local: "r/.claude/settings.local.json",
	} {
		got, err := scope.Path("r", "c")
		if err != nil || filepath.ToSlash(got) != want {
			t.Errorf("%s: %s, %v", scope, got, err)
		}
	}
	if _, err := Scope("plugin").Path("r", "c"); failure.CodeOf(err) != failure.Usage {
		t.Errorf("plugin: %v", err)
	}
	if _, err := User.Path("r", ""); failure.CodeOf(err) != failure.Usage {
		t.Errorf("no home: %v", err)
	}
}

func TestInstallAndUninstallRestoreFiles(t *testing.T) {
	t.Parallel()
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := request(t)
			put(t, r.Path, s.file, 0o640)
			if _, err := Install(r); (err != nil) != (s.refused != "") {
				t.Fatalf("error = %v, want %q", err, s.refused)
			}
			if s.refused != "" && content(t, r.Path) != s.file {
				t.Error("refused, but not left as it is")
			}
			if s.refused == "" && !strings.Contains(content(t, r.Path), "pawl-hook") {
				t.Error("nothing was installed")
			}
			for range 2 {
				if _, err := Uninstall(r); err != nil && s.refused == "" {
					t.Fatal(err)
				}
				if content(t, r.Path) != s.file {
					t.Error("not as before")
				}
			}
			info, err := os.Stat(r.Path)
			if err != nil {
				t.Fatal(err)
			}
			if runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v", info.Mode())
			}
			if diff := cmp.Diff([]string{".", "settings.local.json"}, listing(t, filepath.Dir(r.Path))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCreatedFileIsRemoved(t *testing.T) {
	t.Parallel()
	r := request(t)
	made, err := Install(r)
	if err != nil || !made.Changed() || made.Before != nil {
		t.Fatalf("%+v, %v", made, err)
	}
	again, err := Install(r)
	if err != nil || again.Changed() || !bytes.Equal(again.Before, made.After) {
		t.Fatalf("a second time changes it: %v\n%s", err, again.Diff("again"))
	}
	r.Entries = older() // back to the older entries
	if _, err := Install(r); err != nil {
		t.Fatal(err)
	}
	gone, err := Uninstall(r)
	if err != nil || gone.After != nil {
		t.Fatalf("%+v, %v", gone, err)
	}
	if diff := cmp.Diff([]string{"."}, listing(t, filepath.Dir(filepath.Dir(r.Path)))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{".", "install"}, listing(t, r.Home)); diff != "" {
		t.Errorf("a record stays: %s", diff)
	}
	if none, err := Uninstall(r); err != nil || none.Changed() {
		t.Errorf("a second time: %+v, %v", none, err)
	}
}

func TestFolderWithOtherFilesStays(t *testing.T) {
	t.Parallel()
	r := request(t)
	if _, err := Install(r); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(filepath.Dir(r.Path), "commands"), "", 0o644)
	if _, err := Uninstall(r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".", "commands"}, listing(t, filepath.Dir(r.Path))); diff != "" {
		t.Error(diff)
	}
}

func TestADryRunShowsTheDiff(t *testing.T) {
	t.Parallel()
	r := request(t)
	r.DryRun, r.Entries = true, one()
	put(t, r.Path, "{\n  \"model\": \"opus\"\n}\n", 0o600)
	result, err := Install(r)
	if err != nil {
		t.Fatal(err)
	}
	diff := result.Diff("settings.json")
	want := `--- settings.json
+++ settings.json
@@ -1,3 +1,18 @@
 {
-  "model": "opus"
+  "model": "opus",
+  "hooks": {
+    "Stop": [
`
	if !strings.HasPrefix(diff, want) {
		t.Error(cmp.Diff(want, diff))
	}
	if content(t, r.Path) != "{\n  \"model\": \"opus\"\n}\n" {
		t.Error("a dry run changed the file")
	}
	if _, err := os.Stat(r.Home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dry run left something: %v", err)
	}
	r.DryRun = false
	if _, err := Install(r); err != nil {
		t.Fatal(err)
	}
	installed := content(t, r.Path)
	r.DryRun = true
	if back, err := Uninstall(r); err != nil || string(back.After) != string(result.Before) || content(t, r.Path) != installed {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestLinkStaysALink(t *testing.T) {
	t.Parallel()
	r := request(t)
	target := filepath.Join(t.TempDir(), "dotfiles.json")
	put(t, target, clientFile, 0o644)
	link(t, target, r.Path)
	if _, err := Install(r); err != nil {
		t.Fatal(err)
	}
	if !isSymlink(r.Path) || !strings.Contains(content(t, target), "pawl-hook") {
		t.Error("the target was not edited through the link")
	}
	if _, err := Uninstall(r); err != nil {
		t.Fatal(err)
	}
	if !isSymlink(r.Path) || content(t, target) != clientFile {
		t.Error("not as before")
	}
}

// The user moved the file that we created and left a link to it.
func TestLaterLinkStays(t *testing.T) {
	t.Parallel()
	r := request(t)
	if _, err := Install(r); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "dotfiles.json")
	if err := os.Rename(r.Path, target); err != nil {
		t.Fatal(err)
	}
	link(t, target, r.Path)
	if _, err := Uninstall(r); err != nil {
		t.Fatal(err)
	}
	if !isSymlink(r.Path) || content(t, target) != "{}\n" {
		t.Errorf("left %s", content(t, target))
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
}

func TestVariableIsSetAndRemoved(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		`{"env": {"A": "\u0031"}}`: "1", `{"env": {"A": 0}}`: "0", `{"env": {"A": "1", "A": "2"}}`: "2",
		`{"env": {}}`: "none", `{}`: "none", ``: "none",
	} {
		r := request(t)
		put(t, r.Path, file, 0o600)
		got, ok, err := Variable(r.Path, "A")
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: %s", file, got)
		}
	}
	for _, file := range []string{`{"env": 1}`, `[]`} {
		r := request(t)
		put(t, r.Path, file, 0o600)
		if _, _, err := Variable(r.Path, "A"); failure.CodeOf(err) != failure.Usage {
			t.Errorf("%s: %v", file, err)
		}
	}
	if _, _, err := Variable(t.TempDir(), "A"); !errors.Is(err, atomicfile.ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
}

func TestUnreadReasonNamesThePlace(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"{}": "", "\ufeff{}": "", "\n": "", "{\"a\": 1e400}": "",
		"{\n  // why\n}":      "line 2, column 3: a comment or a trailing comma",
		"\ufeff{\"a\": [1,]}": "line 1, column 10: a comment or a trailing comma",
		"{} // end":           "line 1, column 4: a comment or a trailing comma",
		"{":                   "line 1, column 2: parsing value: unexpected EOF",
	} {
		if got := (Result{After: []byte(file)}).UnreadReason(); got != want {
			t.Errorf("%q: %q", file, got)
		}
	}
	if got := (Result{}).UnreadReason(); got != "" {
		t.Errorf("no file: %q", got)
	}
}
