package frontmatter_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/frontmatter"
)

const path = ".claude/x.local.md"

func parse(t *testing.T, text string) *frontmatter.Text {
	t.Helper()
	f, err := frontmatter.Parse(path, []byte(text), "status", "n", "prompt")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

func TestSetChangesOneValue(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"digits", "---\nn: 1\n---\n", "---\nn: 12\n---\n"},
		{"no blank", "---\nn:1\n---\n", "---\nn:12\n---\n"},
		{"quotes", "---\nn: '1' # x\n---\n", "---\nn: '12' # x\n---\n"},
		{"empty quotes", "---\nn: \"\"\n---\n", "---\nn: \"12\"\n---\n"},
		{"a comment", "---\nn: 1          # 現在\n---\n", "---\nn: 12          # 現在\n---\n"},
		{"a comment without a blank", "---\nn: 1 #now\n---\n", "---\nn: 12 #now\n---\n"},
		{"empty", "---\nn:\n---\n", "---\nn: 12\n---\n"},
		{"empty with a comment", "---\nn: # later\n---\n", "---\nn: 12 # later\n---\n"},
		{"not there", "---\nstatus: a\n---\nn: 1\n", "---\nstatus: a\nn: 12\n---\nn: 1\n"},
		{"not there, CRLF", "\ufeff---\r\nstatus: a\r\n---", "\ufeff---\r\nstatus: a\r\nn: 12\r\n---"},
		{"all else stays", "---\r\n# n: 3\r\nown: x\r\nn:   003   \r\nstatus: a\r\n---\r\nn: 3\r\n", "---\r\n# n: 3\r\nown: x\r\nn:   12   \r\nstatus: a\r\n---\r\nn: 3\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, tt.text)
			if diff := cmp.Diff(tt.want, string(f.Set("n", "100").Set("n", "12").Bytes())); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
			if string(f.Bytes()) != tt.text {
				t.Error("the file before was changed")
			}
		})
	}
	if f := parse(t, "---\nn: 1\n---\n"); f.Set("n", "1\x1b") != f {
		t.Error("what is no plain text was set")
	}
}

func TestNumbersAreDecimal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		written string
		want    int
		given   bool
		wrong   string
	}{
		{written: "7", want: 7, given: true},
		{written: "08", want: 8, given: true},
		{written: "'8' # x", want: 8, given: true},
		{written: "10\t#x", want: 10, given: true},
		{written: ""},
		{written: "-1", wrong: path + `:2: n is "-1": expected many`},
		{written: "+1", wrong: path + `:2: n is "+1": expected many`},
		{written: "99999999999999999999", wrong: path + `:2: n is "99999999999999999999": expected many`},
	}
	for _, tt := range tests {
		n, given, err := parse(t, "---\nn: "+tt.written+"\n---\n").Number("n", "many")
		if tt.wrong != "" {
			if err == nil || err.Error() != tt.wrong || failure.Hint(err) == "" {
				t.Errorf("%s: got %v, want %s", tt.written, err, tt.wrong)
			}
			continue
		}
		if err != nil || n != tt.want || given != tt.given {
			t.Errorf("%s: got %d, %v, %v; want %d, %v", tt.written, n, given, err, tt.want, tt.given)
		}
	}
}

func TestBlockReturnsItsLines(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"lines", "---\nprompt: |\n  One\n    two\n\n  three\nn: 1\n---\n", "One\n  two\n\nthree"},
		{"the last key, CRLF", "---\r\nprompt: |\r\n\tOne\r\n\ttwo\r\n---\r\n", "One\ntwo"},
		{"none", "---\nprompt: |\nn: 1\n---\n", ""},
		{"set in less", "---\nprompt: |\n    One\n  two\n---\n", "One\ntwo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, parse(t, tt.text).Block("prompt")); diff != "" {
				t.Errorf("block (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzSet checks that a set value is read back, also beside others, and that no other byte changes.
func FuzzSet(f *testing.F) {
	for _, s := range []string{
		"---\nn: 1\nstatus: active # x\n---\n", "\ufeff---\r\nprompt: \"a\"\r\n---", "---\nn:#\n---\n", "---\nn: # a\nn2: b\n---\n", "---\nn: \"\"\" #\n---\n", "",
	} {
		f.Add([]byte(s), uint(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint) {
		n %= 1 << 31
		text, err := frontmatter.Parse(path, bytes.Clone(data), "status", "n", "prompt")
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), ": expected ") {
				t.Fatalf("an error without a line or without what was expected: %v", err)
			}
			return
		}
		if !bytes.Equal(text.Bytes(), data) {
			t.Fatal("the bytes are not those that were read")
		}
		value := strconv.Itoa(int(n))
		set := text.Set("n", value)
		if got, given, err := set.Number("n", ""); err != nil || !given || got != int(n) {
			t.Fatalf("set to %d it is %d, %v, %v\n%q", n, got, given, err, set.Bytes())
		}
		for _, key := range []string{"status", "prompt"} {
			if was, is := text.Field(key), set.Field(key); was.Value != is.Value || was.Quote != is.Quote {
				t.Fatalf("%s was %q and is %q", key, was.Value, is.Value)
			}
		}
		if text.Body() != set.Body() || len(set.Bytes()) > len(data)+len(value)+len("n: \r\n") {
			t.Fatalf("%q became %q", data, set.Bytes())
		}
	})
}
