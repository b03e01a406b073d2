package review

import (
	"fmt"
	"strings"
	"testing"
)

// A long file hides no other, wherever it stands.
func TestEachFileKeepsItsShare(t *testing.T) {
	t.Parallel()
	file := func(name string, lines int) string {
		return fmt.Sprintf("diff --git a/%s b/%[1]s\n@@ -0,0 +1 @@\n%s", name, strings.Repeat("+x diff --git a/y b/y\n", lines))
	}
	small, long := file("cheat.go", 3), file("aaa.lock", 10_000)
	got := truncateFairly(long+small+long, 4000)
	if len(got) > 4000 || !strings.Contains(got, small) || strings.Count(got, "cut here") != 2 {
		t.Errorf("%d bytes:\n%.300s", len(got), got)
	}
	if whole := small + small; truncateFairly(whole, 4000) != whole {
		t.Error("a short diff is cut")
	}
	if n := len(splitFiles(long + small)); n != 2 {
		t.Errorf("%d files", n)
	}
}

func FuzzTruncateFairly(f *testing.F) {
	f.Add("diff --git a b\n+1\ndiff --git c d\n+é\n", 60)
	f.Fuzz(func(t *testing.T, diff string, most int) {
		if most < 0 || most > 1<<16 {
			return
		}
		files := splitFiles(diff)
		if strings.Join(files, "") != diff {
			t.Errorf("the files are not the diff: %q", files)
		}
		const mark = 40 // is written also where there is no room
		if got := truncateFairly(diff, most); len(got) > most+mark*len(files) {
			t.Errorf("%d bytes of %d", len(got), most)
		}
	})
}
