package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table on the page is one that the bench of today prints.
func TestTableOnPageIsOfThisBench(t *testing.T) {
	page := filepath.Join("..", "docs", "explanation", "how-fast.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), peersBegin)
	on, _, ok := strings.Cut(rest, tableEnds)
	if header := (table{peersHeader()}).markdown(); !ok || !strings.HasPrefix(on, header) {
		t.Errorf("the table does not begin with\n%s", header)
	}
	for _, who := range []string{"bare claude -p", "pawl run", "pawl run --warm=false"} {
		if !strings.Contains(on, "| "+who+" | ") {
			t.Errorf("%s has no row", who)
		}
	}
}

func TestTableIsWrittenIntoPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+peersBegin+"old\n"+tableEnds+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (table{{"a", "b"}, {"1", "2"}}).writeInto(page, peersBegin); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if want := "before\n" + peersBegin + "| a | b |\n|---|---|\n| 1 | 2 |\n" + tableEnds + "after\n"; err != nil || string(got) != want {
		t.Errorf("%v:\n%s", err, got)
	}
}
