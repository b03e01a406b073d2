package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/store"
)

func TestDrainReturnsMessagesInOrderUntilAck(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	post(t, l, "b-1", "first")
	post(t, l, "a", "second")
	got := drain(t, l)
	if diff := cmp.Diff([]string{`b-1 "first"`, `a "second"`}, briefly(got)); diff != "" {
		t.Error(diff)
	}
	for range 2 { // twice is once
		if err := l.Ack(got[0]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{`a "second"`}, briefly(drain(t, l))); diff != "" {
		t.Error(diff)
	}
}

func TestPostIgnoresKnownID(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	post(t, l, "a", "first")
	post(t, l, "a", "again")
	post(t, l, "b-a", "another")
	got := drain(t, l)
	if diff := cmp.Diff([]string{`a "first"`, `b-a "another"`}, briefly(got)); diff != "" {
		t.Error(diff)
	}
	if err := l.Ack(got[0]); err != nil {
		t.Fatal(err)
	}
	post(t, l, "a", "after it was acknowledged")
	if diff := cmp.Diff([]string{`b-a "another"`}, briefly(drain(t, l))); diff != "" {
		t.Error(diff)
	}
}

func TestPostAtTheSameTime(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	for _, nanos := range []string{"1", "2"} {
		leave(t, l, nanos+"-a.json", `"x"`)
	}
	for range 2 {
		if got := drain(t, l); len(got) != 1 || got[0].ID != "a" {
			t.Errorf("drained %v", briefly(got))
		}
	}
}

func TestDrainMovesInvalidFilesToBad(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	for _, name := range []string{"1-cut.json", "note.txt", "x-a.json", "1-a b.json"} {
		leave(t, l, name, `{"text":`)
	}
	leave(t, l, ".pawl-1.tmp", "just being written")
	post(t, l, "a", "fine")
	got, err := l.Drain()
	if err == nil || strings.Count(err.Error(), "is moved to inbox/bad") != 4 {
		t.Errorf("error = %v", err)
	}
	if diff := cmp.Diff([]string{`a "fine"`}, briefly(got)); diff != "" {
		t.Error(diff)
	}
	drain(t, l) // told once
	kept, err := os.ReadDir(filepath.Join(l.Dir, "inbox", "bad"))
	if err != nil || len(kept) != 4 {
		t.Errorf("kept %d, %v", len(kept), err)
	}
}

func TestPostRefusesInvalidID(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	for _, id := range []string{"", "../x", "a b", strings.Repeat("a", 65)} {
		if err := l.Post(id, 1); err == nil {
			t.Errorf("posted %q", id)
		}
	}
	if err := l.Post("a", func() {}); err == nil {
		t.Error("posted a function")
	}
}

func TestMissingInboxIsEmpty(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	if err := os.Remove(filepath.Join(l.Dir, "inbox")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Drain(); err == nil {
		t.Error("drained an inbox that is not there")
	}
	if err := l.Post("a", 1); err == nil {
		t.Error("posted to an inbox that is not there")
	}
}

func post(t *testing.T, l *store.Loop, id, text string) {
	t.Helper()
	if err := l.Post(id, text); err != nil {
		t.Fatal(err)
	}
}

func leave(t *testing.T, l *store.Loop, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(l.Dir, "inbox", name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func drain(t *testing.T, l *store.Loop) []store.Message {
	t.Helper()
	got, err := l.Drain()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func briefly(ms []store.Message) []string {
	var out []string
	for _, m := range ms {
		out = append(out, fmt.Sprintf("%s %s", m.ID, strings.TrimSpace(string(m.Body))))
	}
	return out
}

func TestPeekChangesNoFile(t *testing.T) {
	t.Parallel()
	l := create(t, store.Open(t.TempDir()), "/repo")
	post(t, l, "a", "first")
	odd := filepath.Join(l.Dir, "inbox", "odd.json")
	if err := os.WriteFile(odd, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := l.Peek()
		if diff := cmp.Diff([]string{`a "first"`}, briefly(got)); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	if _, err := os.Stat(odd); err != nil {
		t.Error(err)
	}
}
