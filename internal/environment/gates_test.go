package environment

import "testing"

func TestWhatMayPassToGates(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name          string
		unix, windows bool
	}{
		{"PATH", true, true},
		{"Path", false, true},
		{"SystemRoot", false, true},
		{"LC_ALL", true, true},
		{"GOFLAGS", true, true},
		{"GOOGLE_API", false, false},
		{"CARGO_HOME", true, true},
		{"CARGO_REGISTRY_TOKEN", false, false},
		{"NODE_AUTH_TOKEN", false, false},
		{"ANTHROPIC_MODEL", false, false},
		{"CLAUDE_CONFIG_DIR", false, false},
		{"AWS_REGION", false, false},
		{"EDITOR", false, false},
	}
	for _, c := range cases {
		if got := isAllowed(c.name, false); got != c.unix {
			t.Errorf("%s on unix: %v", c.name, got)
		}
		if got := isAllowed(c.name, true); got != c.windows {
			t.Errorf("%s on windows: %v", c.name, got)
		}
	}
}
