package plan_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

func TestSlugHasSafeCharacters(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want string }{
		{"US-001", "us-001"},
		{"2.5", "2-5"},
		{"Add login form", "add-login-form"},
		{"--force", "force"},
		{"../../etc/passwd", "etc-passwd"},
		{"a; rm -rf $HOME", "a-rm-rf-home"},
		{"x.lock", "x-lock"},
		{"main@{1}", "main-1"},
		{"", "task-811c9dc5"},
		{".", "task-2b0c98f1"},
		{"com1", "task-com1-31430e3d"},
		{"com12", "com12"},
		{"CON", "task-con-3367e86b"},
	}
	for _, c := range cases {
		if got := plan.Slug(c.text); got != c.want {
			t.Errorf("Slug(%q) = %q, want %q", c.text, got, c.want)
		}
	}
	if plan.Slug("任务一") == plan.Slug("任务二") {
		t.Error("two ids of other letters have one slug")
	}
	long := strings.Repeat("long ", 40)
	if plan.Slug(long+"a") == plan.Slug(long+"b") {
		t.Error("two long ids have one slug")
	}
}

func TestCommitScopeOfATaskID(t *testing.T) {
	t.Parallel()
	cases := []struct{ id, want string }{
		{"US-001", "US-001"},
		{"2.5", "2.5"},
		{"#123", "#123"},
		{"#12a", "12a"},
		{"#", "task-260c9112"},
		{"-x", "x"},
		{"", "task-811c9dc5"},
		{"a): b\n\nPawl-Loop: x", "a-b-pawl-loop-x"},
	}
	for _, c := range cases {
		if got := plan.Scope(c.id); got != c.want {
			t.Errorf("Scope(%q) = %q, want %q", c.id, got, c.want)
		}
	}
}

func TestOneLineIsCleanAndShort(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		limit      int
		want       string
	}{
		{"plain", "Add login", 0, "Add login"},
		{"white space folded", "  a\t b\r\n\n c ", 0, "a b c"},
		{"line separators", "a\u2028b\u00a0c", 0, "a b c"},
		{"trailer injection", "fix\n\nPawl-Evidence: proven", 0, "fix Pawl-Evidence: proven"},
		{"colours", "\x1b[31mred\x1b[0m", 0, "red"},
		{"window title", "\x1b]0;owned\x07ok", 0, "ok"},
		{"eight-bit escapes", "a\u009b31mb\u009d0;x\u009cc", 0, "abc"},
		{"a title that is never closed", "a\x1b]0;b", 0, "a"},
		{"closed by ST", "a\x1bP1\x1b\\b\x1b_x\x1b[0mc", 0, "abc"},
		{"character set", "a\x1b(0b\x1b$", 0, "ab"},
		{"cut off", "a\x1b[3é\x1b", 0, "aé"},
		{"reset", "a\x1bcb", 0, "ab"},
		{"control characters", "a\x00b\x07\x7fc", 0, "abc"},
		{"bidi override", "abc\u202egnp.exe\u202c", 0, "abcgnp.exe"},
		{"zero width and tags", "a\u200bb\U000e0041\ufeff", 0, "ab"},
		{"invalid UTF-8", "a\xffb", 0, `a\377b`},
		{"replacement character stays", "a\ufffdb", 0, "a\ufffdb"},
		{"backticks", "run `go test`", 0, "run `go test`"},
		{"other scripts", "添加登录 – ça va", 0, "添加登录 – ça va"},
		{"fits", "abcde", 5, "abcde"},
		{"cut", "abcdef", 5, "abcd…"},
		{"cut at a space", "abc def", 5, "abc…"},
		{"cut counts characters", "äöüßé", 4, "äöü…"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := plan.OneLine(c.text, c.limit); got != c.want {
				t.Errorf("OneLine(%q, %d) = %q, want %q", c.text, c.limit, got, c.want)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"US-001", "", ".", "-", "nul", "\x1b]0;x", "a\u202eb", "İ", "\xff\xfe"} {
		f.Add(s, 7)
	}
	safe := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if slug := plan.Slug(text); !safe.MatchString(slug) || len(slug) > 48 {
			t.Errorf("Slug(%q) = %q", text, slug)
		}
		if scope := plan.Scope(text); strings.ContainsAny(scope, "()/: \n") || scope == "" {
			t.Errorf("Scope(%q) = %q", text, scope)
		}
		line := plan.OneLine(text, limit)
		if limit > 0 && utf8.RuneCountInString(line) > limit {
			t.Errorf("OneLine(%q, %d) = %q: too long", text, limit, line)
		}
		for _, r := range line {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Z) && r != ' ' {
				t.Errorf("OneLine(%q) holds %U", text, r)
			}
		}
		if again := plan.OneLine(line, limit); again != line {
			t.Errorf("OneLine is not stable: %q, then %q", line, again)
		}
	})
}

// A name that is no text is not shown as that of another file.
func TestFewShowsEveryByte(t *testing.T) {
	t.Parallel()
	if got, want := plan.Few([]string{"new\xe9.txt", "new.txt"}, 4), `new\351.txt, new.txt`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
