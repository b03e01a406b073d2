package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each line of a diff has its position, and a line inside a hunk that looks like a header is no
// header.
func TestDiffLinesHavePositions(t *testing.T) {
	t.Parallel()
	diff := `diff --git a/x.go b/x.go
index 1..2 100644
--- a/x.go
+++ b/x.go
@@ -1,3 +1,3 @@ func x
 one
--- a/two
+++ b/two
 three
@@ -9 +9,2 @@
-nine
+nine
+ten
\ No newline at end of file
diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"
deleted file mode 100644
--- "a/\\303\\244.txt"
+++ /dev/null
@@ -1 +0,0 @@
-gone
`
	diff = strings.ReplaceAll(diff, "\\\\", "\\")
	var got []string
	for _, l := range DiffLines(diff, 100) {
		if l.Number > 0 {
			got = append(got, fmt.Sprintf("%s:%d %s %s", l.File, l.Number, l.Kind, l.Text))
		}
	}
	want := []string{
		"x.go:1   one", "x.go:2 del --- a/two", "x.go:2 add +++ b/two", "x.go:3   three",
		"x.go:9 del -nine", "x.go:9 add +nine", "x.go:10 add +ten", "ä.txt:1 del -gone",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	code := "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \tif a:\n-\t\treturn  a `b`\n+    return  a `c`\x1b]0;\u202ed\a\xff\n"
	got = nil
	for _, l := range DiffLines(code, 100)[3:] {
		got = append(got, l.Text)
	}
	if d := cmp.Diff([]string{"     if a:", "-        return  a `b`", "+    return  a `c`]0;d\\377"}, got); d != "" {
		t.Errorf("code is not shown as it stands: %s", d)
	}
	if got := DiffLines(diff, 3); len(got) != 4 || got[3].Text != "… and 17 more lines" {
		t.Errorf("a cut diff: %+v", got)
	}
}

// A changed line that looks like a header of a diff, such as a comment of SQL, is shown.
func TestChangedLinesLikeHeadersAreShown(t *testing.T) {
	t.Parallel()
	const diff = "diff --git a/q.sql b/q.sql\n--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n select 1\n--- old\n+++ new\ndiff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
	want := []string{"+++ q.sql", "--- old", "+++ new", "--- gone.txt", "-x"}
	if got := changedLines(diff); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
