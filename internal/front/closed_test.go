package front

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// With --closed a call that nobody answers is denied; without it the call runs.
func TestClosedFlagDeniesUnansweredCalls(t *testing.T) {
	t.Parallel()
	const call = `{"hook_event_name":"PreToolUse","session_id":"s1"}`
	for name, tt := range map[string]struct {
		event        string
		bound        bool
		open, closed int
	}{
		"no loop":                    {call, false, 0, 0},
		"no event":                   {"", false, 0, exitDeny},
		"a tool that does not start": {call, true, 1, exitDeny},
	} {
		home := t.TempDir()
		env := environment.Environment{PawlHome: home}
		if tt.bound {
			path := place.Of(home).BindingPath("s1")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for arg, want := range map[string]int{"": tt.open, FailClosedFlag: tt.closed} {
			in := filepath.Join(t.TempDir(), "event")
			if err := os.WriteFile(in, []byte(tt.event), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(in)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			problem, err := os.Create(in + ".err")
			if err != nil {
				t.Fatal(err)
			}
			defer problem.Close()
			args := []string{"claude"}
			if arg != "" {
				args = append(args, arg)
			}
			gone := func() []string { return []string{filepath.Join(home, "gone")} }
			if code := Run(Call{Args: args, In: f, Out: problem, Err: problem, Env: env, Tool: gone}); code != want {
				t.Errorf("%s %s: exit %d, want %d", name, arg, code, want)
			}
		}
	}
}
