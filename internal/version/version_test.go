package version

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionNamesTheBuild(t *testing.T) {
	t.Parallel()
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	cases := []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{}, "devel "},
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3 "},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
			setting("vcs.revision", "0123456789abcdef"), setting("vcs.modified", "true"),
		}}, "devel (commit 0123456789ab, with changes) "},
		{debug.BuildInfo{Settings: []debug.BuildSetting{
			setting("vcs.revision", "0123456789abcdef"), setting("vcs.modified", "false"),
		}}, "devel (commit 0123456789ab) "},
	}
	for _, c := range cases {
		if got := of(&c.info); !strings.HasPrefix(got, c.want) {
			t.Errorf("got %q, want %q …", got, c.want)
		}
	}
}
