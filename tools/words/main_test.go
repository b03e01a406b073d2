package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestRetiredWordsAreFound(t *testing.T) {
	root := fstest.MapFS{
		"README.md":                             {Data: []byte("fine\nthe third strike ends it\n")},
		"docs/explanation/decisions/001-old.md": {Data: []byte("behind the wall")},
		"a/seat.go":                             {Data: []byte("package a\n")},
		"a/a.go": {Data: []byte("package a\n\n// of a strike no message tells\n\n// Get returns.\nfunc Get() string { return \"mend it\" }\n\n" +
			"const dialPatience = 5\n\ntype F struct {\n\tByPerson bool\n\tN int `help:\"0 is no limit\"`\n}\n\n// gives back.\nfunc Put() {}\n\n" +
			"// size tells how much.\nfunc size() int { return 1 }\n\n// Holds it.\nvar box int\n")},
		"a/a_test.go":        {Data: []byte("package a\n\nconst c = \"strike\"\n")},
		"a/testdata/note.md": {Data: []byte("strike")},
	}
	got, err := check(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`README.md:2: "strike"`, `001-old.md:1: "the wall"`, `"mend"`, `"0 is no limit"`, `comment of Put begins with "gives"`, `comment of size says "tells"`, `comment of box begins with "Holds"`, "a/seat.go: rename",
		`the name dialPatience: write "timeout" for "patience"`, `the name ByPerson: write "user" for "person"`,
	}
	if len(got) != len(want) {
		t.Errorf("%d faults, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), w) {
			t.Errorf("not found: %s in\n%s", w, strings.Join(got, "\n"))
		}
	}
}

func TestSubjects(t *testing.T) {
	got := longSubjects([]string{
		"1 cli: say it", "2 cli: " + strings.Repeat("x", 60), "3 Say it without an area", "4 two words: here",
	})
	if len(got) != 3 || !strings.Contains(got[0], "65 characters") {
		t.Errorf("%q", got)
	}
}
