package environment

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironmentIsRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the paths of this table are absolute elsewhere only")
	}
	cases := []struct {
		name string
		goos string
		vars map[string]string
		want Environment // its Vars aside
		err  bool
	}{
		{
			"home only", "linux",
			map[string]string{"HOME": "/h"},
			Environment{Home: "/h", PawlHome: "/h/.local/state/pawl", ConfigHome: "/h/.config"},
			false,
		},
		{
			"XDG", "linux",
			map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c", "NO_COLOR": "1", "COLUMNS": "80"},
			Environment{Home: "/h", PawlHome: "/s/pawl", ConfigHome: "/c", NoColor: true, Columns: 80},
			false,
		},
		{
			"a dumb terminal of one byte", "linux",
			map[string]string{"PAWL_HOME": "/p", "TERM": "dumb", "LANG": "C"},
			Environment{PawlHome: "/p", Dumb: true, ASCII: true},
			false,
		},
		{
			"LC_ALL beats LANG", "linux",
			map[string]string{"PAWL_HOME": "/p", "TERM": "xterm", "LC_ALL": "C.UTF-8", "LANG": "C"},
			Environment{PawlHome: "/p"},
			false,
		},
		{
			"relative XDG is ignored", "darwin",
			map[string]string{"HOME": "/h", "XDG_STATE_HOME": "s", "XDG_CONFIG_HOME": "c", "COLUMNS": "wide"},
			Environment{Home: "/h", PawlHome: "/h/.local/state/pawl", ConfigHome: "/h/.config"},
			false,
		},
		{
			"own home", "linux",
			map[string]string{"PAWL_HOME": "/p", "RALPH_LOOP_DIR": "r", "TH_LOOP_AGENT": "eris", "PAWL_LOOP": "calm-wren-0001"},
			Environment{PawlHome: "/p", RalphLoopDir: "r", ThLoopAgent: "eris", Loop: "calm-wren-0001"},
			false,
		},
		{
			"a hook of a plugin", "linux",
			map[string]string{"PAWL_HOME": "/p", "CLAUDECODE": "1", "CLAUDE_PLUGIN_ROOT": "/plugins/p", "CLAUDE_PROJECT_DIR": "/w"},
			Environment{PawlHome: "/p", Session: Session{Inside: true, Plugin: "/plugins/p", Project: "/w"}},
			false,
		},
		{"relative own home", "linux", map[string]string{"PAWL_HOME": "p", "HOME": "/h"}, Environment{}, true},
		{"own home that JSON changes", "linux", map[string]string{"PAWL_HOME": "/p\xff", "HOME": "/h"}, Environment{}, true},
		{"relative home", "linux", map[string]string{"PAWL_HOME": "/p", "HOME": "h"}, Environment{}, true},
		{"no home", "linux", nil, Environment{}, true},
		{
			"Windows", "windows",
			map[string]string{"USERPROFILE": "/u", "LOCALAPPDATA": "/l", "APPDATA": "/a"},
			Environment{Home: "/u", PawlHome: filepath.Join("/l", "pawl"), ConfigHome: "/a"},
			false,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := newEnvironment(func(name string) string { return c.vars[name] }, nil, c.goos)
			if (err != nil) != c.err {
				t.Fatalf("error = %v", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClientConfigFolderIsFound(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	elsewhere := filepath.Join(home, "work")
	for _, tt := range []struct{ home, variable, want string }{
		{home, "", filepath.Join(home, ".claude")},
		{home, elsewhere, elsewhere},
		{"", elsewhere, elsewhere},
		{home, "relative", filepath.Join(home, ".claude")},
		{"", "", ""},
	} {
		e := Environment{Home: tt.home, Vars: []string{"CLAUDE_CONFIG_DIR=" + tt.variable}}
		if got := e.ClientConfig(); got != tt.want {
			t.Errorf("home %q, CLAUDE_CONFIG_DIR=%q: %q, want %q", tt.home, tt.variable, got, tt.want)
		}
	}
}

func TestReadSeesTheProcess(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PAWL_HOME", home)
	got, err := Read()
	if err != nil || got.PawlHome != home || len(got.Vars) == 0 {
		t.Errorf("environment = %+v, %v", got, err)
	}
}
