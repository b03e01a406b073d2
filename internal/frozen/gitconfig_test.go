package frozen

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What git reads is read: no setting of git's is missed, in whatever disguise.
func FuzzGitSettings(f *testing.F) {
	for _, seed := range []string{
		"[core]\n\tbare = false ; x\n", "[filter \"a b\"]clean=cat \"x # y\" \\\n z\n", "[a.B]c", "\ufeff[x]\r\ny = 1\\\r\n2\r\n",
		"[a \"q\\\"]\"] b [c] = d\n", "# [a]\n;x\n[a]\nb=\"x\n", "[a]\nb # c\n", "[a]b=#[x]\\\nc=d\n", "[a]\n\x00b\n",
	} {
		f.Add(seed)
	}
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("git is not on the PATH")
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("git", "config", "--file", file, "--no-includes", "--list", "--name-only", "-z").Output()
		settings, heads, ok := gitSettings(text)
		if err != nil || !ok {
			return // git, or we, take it for broken; then all of it counts
		}
		var keys []string
		for _, s := range settings {
			keys = append(keys, s.key+"\x00")
			if s.section < 0 || s.section >= len(heads) || !strings.HasPrefix(text[heads[s.section]:], "[") {
				t.Errorf("%q: %q is in section %d of %d", text, s.key, s.section, heads)
			}
		}
		if got := strings.Join(keys, ""); got != string(out) {
			t.Errorf("%q: %q, git: %q", text, got, out)
		}
	})
}
