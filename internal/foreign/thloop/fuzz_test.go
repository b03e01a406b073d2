package thloop_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/foreign/thloop"
)

// FuzzParse checks that reading keeps every byte, and that set values are read back.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		sample, strings.ReplaceAll(sample, "\n", "\r\n"), "\ufeff" + sample, strings.ReplaceAll(sample, ": ", ":"),
		"---\nprompt: |\n  a\n\n  b\nevery: 5m\n---", "---\nlast_read_timestamp: 10:00 # x\nstatus:#\n---\n", "---\n", "",
	} {
		f.Add([]byte(s), 7)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		file, err := thloop.Parse(path, bytes.Clone(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), ": expected ") {
				t.Fatalf("an error without a line or without what was expected: %v", err)
			}
			return
		}
		if !bytes.Equal(file.Bytes(), data) {
			t.Fatal("the bytes are not those that were read")
		}
		want := *file
		want.Iteration, want.Status = max(n, 0), thloop.Completed
		set := file.SetIteration(n).SetStatus(thloop.Completed).SetLastRead(noon)
		again, err := thloop.Parse(path, set.Bytes())
		if err != nil {
			t.Fatalf("%v\n%q", err, set.Bytes())
		}
		for _, got := range []*thloop.File{set, again} {
			if diff := cmp.Diff(&want, got, ignoreBytes); diff != "" {
				t.Fatalf("(-want +got):\n%s\n%q", diff, set.Bytes())
			}
		}
		if twice := again.SetIteration(n).SetStatus(thloop.Completed).SetLastRead(noon); !bytes.Equal(twice.Bytes(), again.Bytes()) {
			t.Fatalf("set once more it is %q, not %q", twice.Bytes(), again.Bytes())
		}
	})
}

// FuzzChannel checks that text is returned once and whole, however appends and reads alternate,
// that stops do not depend on this, and that quotes and code never stop a loop.
func FuzzChannel(f *testing.F) {
	for _, s := range []string{
		"## 10:00 nao\nhi\nstop\n", "```\nstop\n```\nstop", "> stop\n", "a\r\n STOP \r\n\r\n", "~~~\n```\nstop\n", "# eris\nstop\n# nao\nb\n", "\ufeffstop\nx\nstop",
	} {
		f.Add(s, uint(3), uint(7))
	}
	f.Fuzz(func(t *testing.T, text string, i, j uint) {
		n := uint(len(text)) + 1
		i, j = i%n, j%n
		whole, _ := thloop.Cursor{}.Read([]thloop.Source{{Name: today, Data: []byte(text), Complete: true}}, "", noon)
		wholly, _ := told(whole)
		if wholly != text {
			t.Fatalf("told %q of %q", wholly, text)
		}
		var c thloop.Cursor
		var got string
		var stops []thloop.Stop
		ends := []uint{min(i, j), max(i, j), n - 1, n - 1}
		for k, end := range ends {
			var news thloop.News
			before := c
			news, c = c.Read([]thloop.Source{{Name: today, Data: []byte(text[:end]), Complete: k == len(ends)-1}}, "", noon)
			again, _ := before.Read([]thloop.Source{{Name: today, Data: []byte(text[:end]), Complete: k == len(ends)-1}}, "", noon)
			if diff := cmp.Diff(news, again); diff != "" {
				t.Fatalf("the same read differs: %s", diff)
			}
			part, _ := told(news)
			got, stops = got+part, append(stops, news.Stops...)
		}
		if got != text {
			t.Fatalf("told %q of %q, split at %d and %d", got, text, i, j)
		}
		if len(stops) != len(whole.Stops) {
			t.Fatalf("stops %v, at once %v, of %q split at %d and %d", stops, whole.Stops, text, i, j)
		}
		for _, hidden := range []string{"````````````\n" + strings.ReplaceAll(text, "````````````", "") + "\n````````````", "> " + strings.ReplaceAll(text, "\n", "\n> ")} {
			if news, _ := (thloop.Cursor{}).Read([]thloop.Source{{Name: today, Data: []byte(hidden), Complete: true}}, "", noon); len(news.Stops) > 0 {
				t.Fatalf("%q stops at %v", hidden, news.Stops)
			}
		}
		own, _ := thloop.Cursor{}.Read([]thloop.Source{{Name: today, Data: []byte(text), Complete: true}}, "eris", noon)
		var all strings.Builder
		for _, p := range own.Parts {
			all.WriteString(p.Text)
		}
		if all.String() != text {
			t.Fatalf("with a name %q is %q", text, all.String())
		}
	})
}

// FuzzRewritten checks that nothing is lost from a rewritten file: the result is its end, after a
// part that was returned before.
func FuzzRewritten(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("a\n", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		var c thloop.Cursor
		_, c = c.Read([]thloop.Source{{Name: today, Data: []byte(before), Complete: true}}, "", noon)
		n, c := c.Read([]thloop.Source{{Name: today, Data: []byte(after), Complete: true}}, "", noon)
		text, _ := told(n)
		kept, ends := strings.CutSuffix(after, text)
		if !ends || kept != "" && kept != before {
			t.Fatalf("%q became %q, told %q", before, after, text)
		}
		if n, _ := c.Read([]thloop.Source{{Name: today, Data: []byte(after), Complete: true}}, "", noon); len(n.Parts) > 0 {
			t.Fatalf("told twice: %v", n)
		}
	})
}
