package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// full returns a binding with a value in every field.
func full() session.Binding {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	return session.Binding{
		Session: "s1", Loop: "brisk-otter-7f3a", Epoch: 2, Root: "/project", Client: 7, Unattended: true, LoopPrompt: "p1",
		CompatFile: ".claude/x.md", Since: at, Responder: "plugin", PassedAt: at, Prompts: []session.Prompt{{ID: "p1", FromClient: true}},
		GivenTurns: 3, Busy: true, ConsecutiveBlocks: 2, ToolsSize: 99, LastStop: "x", LastStopAt: at, WaitingForTurn: true,
	}
}

func bound(t *testing.T) session.Store {
	t.Helper()
	s := session.Open(t.TempDir())
	if err := s.Bind(t.Context(), full()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFindReturnsBinding(t *testing.T) {
	t.Parallel()
	s := bound(t)
	got, err := s.Find("s1")
	if diff := cmp.Diff(full(), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := s.Find("s2"); !errors.Is(err, session.ErrNone) {
		t.Error(err)
	}
}

func TestFindCreatesNoFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := session.Open(home)
	for _, id := range []string{"s1", "", "../s1", "a/b", `a\b`, ".", "s1.json", "waiting", strings.Repeat("x", 129), "ü"} {
		if _, err := s.Find(id); !errors.Is(err, session.ErrNone) {
			t.Errorf("find %q: %v", id, err)
		}
		if _, err := s.Change(t.Context(), id, nil); !errors.Is(err, session.ErrNone) {
			t.Errorf("change %q: %v", id, err)
		}
		if _, err := s.Adopt(t.Context(), id, 7, time.Now()); !errors.Is(err, session.ErrNone) {
			t.Errorf("adopt %q: %v", id, err)
		}
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("there is %v %v", entries, err)
	}
}

// waiting.json lies beside the bindings: no session may have that id.
func TestInvalidIDsAreRefused(t *testing.T) {
	t.Parallel()
	s := session.Open(t.TempDir())
	for _, id := range []string{"", "../s1", "a/b", "s 1", "waiting", strings.Repeat("x", 129)} {
		b := full()
		b.Session = id
		if err := s.Bind(t.Context(), b); err == nil {
			t.Errorf("%q was bound", id)
		}
		if first, err := s.FirstTime(t.Context(), id, "x"); first || err == nil {
			t.Errorf("%q: once", id)
		}
	}
}

func TestConcurrentChangesAreKept(t *testing.T) {
	t.Parallel()
	s := bound(t)
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			_, err := s.Change(t.Context(), "s1", func(b *session.Binding) bool { b.GivenTurns++; return true })
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b, err := s.Change(t.Context(), "s1", func(b *session.Binding) bool { b.GivenTurns = 0; return false })
	if err != nil || b.GivenTurns != 0 {
		t.Errorf("what a change returns: %d %v", b.GivenTurns, err)
	}
	if b, err = s.Find("s1"); err != nil || b.GivenTurns != full().GivenTurns+40 {
		t.Errorf("given %d: %v", b.GivenTurns, err)
	}
}

func TestReleaseKeepsBindingToAnotherLoop(t *testing.T) {
	t.Parallel()
	s := bound(t)
	for _, tt := range []struct {
		id, loop string
		want     bool
	}{{"s1", "calm-bear-0000", false}, {"s2", full().Loop, false}, {"s1", full().Loop, true}, {"s1", full().Loop, false}} {
		if got, err := s.Release(t.Context(), tt.id, tt.loop); err != nil || got != tt.want {
			t.Errorf("release %s of %s: %v %v", tt.id, tt.loop, got, err)
		}
	}
}

func once(t *testing.T, s session.Store, id, what string) bool {
	t.Helper()
	first, err := s.FirstTime(t.Context(), id, what)
	if err != nil {
		t.Error(err)
	}
	return first
}

// A folder that cannot be created does not count as the first call.
func TestOnceReturnsError(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if first, err := session.Open(home).FirstTime(t.Context(), "s1", "x"); first || err == nil {
		t.Errorf("first %v, %v", first, err)
	}
}

func TestFirstTimeIsTrueOnce(t *testing.T) {
	t.Parallel()
	s := session.Open(t.TempDir())
	var wg sync.WaitGroup
	firsts := make(chan int, 200)
	for i := range 200 {
		wg.Go(func() {
			if first, err := s.FirstTime(t.Context(), "s"+strconv.Itoa(i%4), "the same"); first && err == nil {
				firsts <- i % 4
			}
		})
	}
	wg.Wait()
	close(firsts)
	var got []int
	for i := range firsts {
		got = append(got, i)
	}
	if slices.Sort(got); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("first in %v", got)
	}
	for i := range 300 { // what is long past is forgotten, the last are not
		if !once(t, s, "s9", strconv.Itoa(i)) || once(t, s, "s9", strconv.Itoa(max(0, i-40))) {
			t.Fatal(i)
		}
	}
}

func TestPromptIsRecordedOnce(t *testing.T) {
	t.Parallel()
	var b session.Binding
	if b.RecordPrompt(session.Prompt{}) || !b.RecordPrompt(session.Prompt{ID: "a"}) || b.RecordPrompt(session.Prompt{ID: "a", FromClient: true}) {
		t.Error("only the first of an id is news")
	}
	for i := range 100 {
		b.RecordPrompt(session.Prompt{ID: strconv.Itoa(i)})
	}
	if len(b.Prompts) != 8 || b.Prompts[7].ID != "99" {
		t.Errorf("%+v", b.Prompts)
	}
}

func TestIsUserTurn(t *testing.T) {
	t.Parallel()
	b := session.Binding{LoopPrompt: "begin", Prompts: []session.Prompt{{ID: "typed"}, {ID: "notice", FromClient: true}}}
	for prompt, want := range map[string]bool{"": false, "begin": false, "typed": true, "notice": false, "queued": true} {
		if got := b.IsUserTurn(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

func TestAdoptFindsLoopByClient(t *testing.T) {
	t.Parallel()
	home, now := t.TempDir(), time.Now()
	s, folder := session.Open(home), place.Of(home)
	if err := s.Bind(t.Context(), full()); err != nil {
		t.Fatal(err)
	}
	if err := s.WaitForSession(t.Context(), full(), []int{7, 8}, now); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find("s1"); !errors.Is(err, session.ErrNone) || !folder.HasWaiting() {
		t.Errorf("the old id is kept: %v", err)
	}
	for _, tt := range []struct {
		client int
		at     time.Time
	}{{9, now}, {0, now}} {
		if _, err := s.Adopt(t.Context(), "s2", tt.client, tt.at); !errors.Is(err, session.ErrNone) {
			t.Errorf("client %d: %v", tt.client, err)
		}
	}
	want := full()
	want.Session, want.Client = "s2", 8
	got, err := s.Adopt(t.Context(), "s2", 8, now)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if found, err := s.Find("s2"); err != nil || !cmp.Equal(found, want) {
		t.Errorf("%+v %v", found, err)
	}
	if _, err := s.Adopt(t.Context(), "s3", 8, now); !errors.Is(err, session.ErrNone) || folder.HasWaiting() {
		t.Errorf("adopted twice: %v", err)
	}
	// Who waits for too long waits no more, and costs no other session's events.
	if err := s.WaitForSession(t.Context(), full(), []int{8}, now); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Adopt(t.Context(), "s4", 8, now.Add(session.AdoptTimeout)); !errors.Is(err, session.ErrNone) || folder.HasWaiting() {
		t.Errorf("adopted too late: %v", err)
	}
}

// Of many sessions that a client begins at once one gets the loop, and each of several
// loops gets one.
func TestAdoptGivesEachLoopToOneSession(t *testing.T) {
	t.Parallel()
	s, now := session.Open(t.TempDir()), time.Now()
	for i := range 5 {
		b := session.Binding{Loop: "loop" + strconv.Itoa(i)}
		for range 2 { // waiting anew takes the place of waiting
			if err := s.WaitForSession(t.Context(), b, []int{i + 1}, now); err != nil {
				t.Fatal(err)
			}
		}
	}
	var wg sync.WaitGroup
	got := make(chan string, 40)
	for i := range 40 {
		wg.Go(func() {
			b, err := s.Adopt(t.Context(), "s"+strconv.Itoa(i), i%5+1, now)
			if err == nil {
				got <- b.Loop
			} else if !errors.Is(err, session.ErrNone) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(got)
	var loops []string
	for l := range got {
		loops = append(loops, l)
	}
	if slices.Sort(loops); !slices.Equal(loops, []string{"loop0", "loop1", "loop2", "loop3", "loop4"}) {
		t.Errorf("%v", loops)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := session.Open(home)
	if err := s.Bind(t.Context(), full()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"s1.json": "{", "waiting.json": "{", "s1.once": "\x00"} {
		if err := os.WriteFile(filepath.Join(home, "sessions", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Find("s1"); err == nil || errors.Is(err, session.ErrNone) {
		t.Errorf("a damaged binding: %v", err)
	}
	if !once(t, s, "s1", "x") || once(t, s, "s1", "x") {
		t.Error("once")
	}
	if err := s.WaitForSession(t.Context(), full(), []int{7}, time.Now()); err != nil {
		t.Error(err)
	}
	if _, err := s.Find("s1"); !errors.Is(err, session.ErrNone) {
		t.Error("the damaged binding is still there:", err)
	}
	if b, err := s.Adopt(t.Context(), "s2", 7, time.Now()); err != nil || b.Loop != full().Loop {
		t.Errorf("%+v %v", b, err)
	}
}

// A caller that was told the session's id at its start finds the loop even if the client
// has changed the id since.
func TestFindByClient(t *testing.T) {
	t.Parallel()
	s := session.Open(t.TempDir())
	at := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	for i, b := range []session.Binding{
		{Session: "s1", Loop: "old", Client: 7}, {Session: "s2", Loop: "new", Client: 7}, {Session: "s3", Loop: "other", Client: 8}, {Session: "s4", Client: 7},
	} {
		b.Since = at.Add(time.Duration(i) * time.Hour)
		if err := s.Bind(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		id     string
		client int
		want   string
	}{{"s1", 7, "old"}, {"s0", 7, "new"}, {"s0", 8, "other"}, {"s0", 9, ""}, {"s0", 0, ""}, {"", 7, "new"}} {
		b, err := s.FindByClient(c.id, c.client)
		if b.Loop != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, session.ErrNone) {
			t.Errorf("%q of process %d: %q, %v", c.id, c.client, b.Loop, err)
		}
	}
	if b, err := session.Open(t.TempDir()).FindByClient("s0", 7); !errors.Is(err, session.ErrNone) {
		t.Errorf("where there are no sessions: %+v, %v", b, err)
	}
}
