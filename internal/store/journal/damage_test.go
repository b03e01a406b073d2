package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/store/journal"
)

func TestTornEndIsCutKeptAndTold(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, torn string }{
		{"half a record", `{"seq":4,"at":"2026-`},
		{"a record without its newline", `{"seq":4,"at":"2026-01-31T09:00:00Z","prev":"","epoch":1,"type":"turn"}`},
		{"zeros, as after a power cut", strings.Repeat("\x00", 5000)},
		{"zeros and a newline", strings.Repeat("\x00", 200) + "\n"},
		{"a whole line of rubbish and a half one", "rubbish\nmore"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := threeRecords(t)
			appendBytes(t, path, c.torn)

			w := open(t, path)
			if got := w.Last(); got.Seq != 4 || got.Type != journal.TornType || got.Epoch != 1 {
				t.Fatalf("last record = %+v", got)
			}
			told := dataOf[journal.TornData](t, w.Last())
			if told.Bytes != int64(len(c.torn)) {
				t.Errorf("told of %d bytes, want %d", told.Bytes, len(c.torn))
			}
			kept, err := os.ReadFile(filepath.Join(filepath.Dir(path), told.File))
			if err != nil || string(kept) != c.torn {
				t.Errorf("kept %q, %v", kept, err)
			}
			add(t, w, 1, "turn", nil)
			wantWhole(t, path, 5)
		})
	}
}

func TestTornFirstLine(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	if err := os.WriteFile(path, []byte(`{"seq":1,`), 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, open(t, path), 1, "begun", nil)
	if diff := cmp.Diff([]string{"journal_torn", "begun"}, kinds(records(t, path, journal.Mark{}))); diff != "" {
		t.Error(diff)
	}
	wantWhole(t, path, 2)
}

func TestAnotherTearAtTheSamePlaceKeepsBoth(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	if err := os.WriteFile(path+".torn-0-0", []byte("of before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if told := dataOf[journal.TornData](t, open(t, path).Last()); told.File != "journal.jsonl.torn-0-1" {
		t.Errorf("kept in %s", told.File)
	}
}

func TestReadersPassOverATornEnd(t *testing.T) {
	t.Parallel()
	path := threeRecords(t)
	appendBytes(t, path, `{"seq":4,`)
	wantWhole(t, path, 3)
}

func TestFileOfSomethingElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	content := []byte("not a journal\nat all\n")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var corrupt *journal.CorruptError
	if _, err := journal.Open(path); !errors.As(err, &corrupt) {
		t.Fatalf("error = %v, want a CorruptError", err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, content) {
		t.Errorf("the file became %q", got)
	}
}

func TestDamageInTheMiddleIsNamedAndReadingGoesOn(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		damage func(lines []string) []string
		bad    int64  // sequence number the error names
		read   string // types of the records still read
	}{
		{"a line of rubbish", func(l []string) []string { l[1] = "rubbish"; return l }, 2, "a c d e"},
		{"two lines of rubbish", func(l []string) []string { l[1], l[2] = "rubbish", "{}"; return l }, 2, "a d e"},
		{"data changed", func(l []string) []string { l[1] = strings.Replace(l[1], `"b"`, `"B"`, 1); return l }, 2, "a B c d e"},
		{"a line lost", func(l []string) []string { return append(l[:2], l[3:]...) }, 3, "a b d e"},
		{"a line doubled", func(l []string) []string { l[2] = l[1]; return l }, 3, "a b b d e"},
		{"the first line lost", func(l []string) []string { return l[1:] }, 1, "b c d e"},
		{"a line far too long", func(l []string) []string {
			l[1] = strings.Repeat("x", journal.MaxRecord+1)
			return l
		}, 2, "a c d e"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			w := open(t, path)
			for _, kind := range []string{"a", "b", "c", "d", "e"} {
				add(t, w, 1, kind, nil)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := c.damage(strings.Split(strings.TrimSpace(string(content)), "\n"))
			if err := os.WriteFile(path, []byte(strings.Join(damaged, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}

			var first *journal.CorruptError
			if _, _, err := journal.Verify(path); !errors.As(err, &first) || first.Seq != c.bad {
				t.Errorf("verify = %v, want record %d", err, c.bad)
			}
			var read []journal.Record
			for r, err := range journal.Records(path, journal.Mark{}) {
				if err == nil {
					read = append(read, r)
				}
			}
			if diff := cmp.Diff(c.read, strings.Join(kinds(read), " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDamageInTheMiddleDoesNotStopTheWriter(t *testing.T) {
	t.Parallel()
	path := threeRecords(t)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(content, []byte(`"seq":2`), []byte(`"seq":X`), 1)
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, open(t, path), 1, "turn", nil)
	if got, _ := os.ReadFile(path); !bytes.HasPrefix(got, damaged) {
		t.Error("a line was removed")
	}
}

// The end is found from the end: a junk tail of 100 MB costs a look over it, a
// long history nothing.
func TestTailOfAHugeFile(t *testing.T) {
	t.Parallel()
	path := threeRecords(t)
	if err := os.Truncate(path, 100<<20); err != nil { // a hole: zeros without a newline
		t.Fatal(err)
	}
	if got := open(t, path).Last(); got.Seq != 4 || got.Type != journal.TornType {
		t.Errorf("last = %+v", got)
	}
	wantWhole(t, path, 4)
}

func FuzzOpenNeverLosesBytes(f *testing.F) {
	f.Add([]byte("x"), []byte("\n"))
	f.Add([]byte(`{"seq":2,"type":"a"}`+"\n"), []byte("half"))
	f.Add([]byte("\x00\x00\n\n"), []byte{})
	f.Fuzz(func(t *testing.T, middle, end []byte) {
		path := threeRecords(t)
		appendBytes(t, path, string(middle)+string(end))
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		last := open(t, path).Last()
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if last.Type == journal.TornType && len(after) > len(before)-len(middle)-len(end) {
			kept, err := os.ReadFile(filepath.Join(filepath.Dir(path), dataOf[journal.TornData](t, last).File))
			if err != nil {
				t.Fatal(err)
			}
			after = append(after[:last.Mark.Start:last.Mark.Start], kept...)
		}
		if !bytes.Equal(before, after) {
			t.Errorf("bytes were lost: %q became %q", before, after)
		}
	})
}

func threeRecords(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	w := open(t, path)
	for i := range 3 {
		add(t, w, 1, "turn", fmt.Sprint(i))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func kinds(rs []journal.Record) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Type)
	}
	return out
}
