package rawlog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/rawlog"
	"github.com/pawl-dev/pawl/internal/redact"
)

func open(t *testing.T, path string) *rawlog.Log {
	t.Helper()
	l, err := rawlog.Open(path, redact.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func written(t *testing.T, path string, parts ...string) string {
	t.Helper()
	l := open(t, path)
	for _, p := range parts {
		if n, err := l.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := rawlog.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestLogAppendsAndRedacts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.gz")
	if got := written(t, path, "one ", "ghp_0123456789", "abcdefghijABCDEFGHIJ\n"); got != "one "+redact.Mark+"\n" {
		t.Errorf("%q", got)
	}
	if got := written(t, path, "two\n"); got != "one "+redact.Mark+"\ntwo\n" {
		t.Errorf("appended: %q", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// However much is printed, beginning and end are there, in a bounded file.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("word ", 200) + "\n"
	parts := map[string][]string{
		"lines":           strings.SplitAfter(strings.Repeat(line, 20_000), "\n"),
		"one line":        {strings.Repeat("word ", 4_000_000)},
		"no word's end":   {strings.Repeat("x", 10<<20), strings.Repeat("y", 10<<20)},
		"pieces of 1 MiB": strings.SplitAfter(strings.Repeat(strings.Repeat("w ", 1<<19)+"\n", 20), "\n"),
	}
	for name, all := range parts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log.gz")
			got := written(t, path, append(append([]string{"the beginning\n"}, all...), "\nthe end\n")...)
			if !strings.HasPrefix(got, "the beginning\n") || !strings.HasSuffix(got, "\nthe end\n") || !strings.Contains(got, " bytes left out]\n") {
				t.Errorf("%d bytes: %.40q … %q", len(got), got, got[len(got)-40:])
			}
			if len(got) > 5<<20 {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
}

// What fits loses nothing, wherever it is divided.
func TestLogKeepsWhatFits(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	var parts []string
	for i := range 3600 {
		part := strings.Repeat(string(rune('a'+i%26)), i%1200) + "\n"
		want.WriteString(part)
		parts = append(parts, part)
	}
	l := filepath.Join(t.TempDir(), "log.gz")
	all := want.String()
	if len(all) < 2<<20 {
		t.Fatal("too little to say anything")
	}
	if got := written(t, l, append(parts, all)...); got != all+all {
		t.Errorf("%d bytes, not %d", len(got), 2*len(all))
	}
}

// A writer that died leaves what it had written.
func TestReadOfALogThatWasCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.gz")
	written(t, path, "a line\n", strings.Repeat("more\n", 1000))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, len(b) - 6} {
		if err := os.WriteFile(path, b[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := rawlog.Read(path); err != nil || n > 0 && !strings.HasPrefix(got, "a line\n") {
			t.Errorf("cut to %d bytes: %q, %v", n, got, err)
		}
	}
}
