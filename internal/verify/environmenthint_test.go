//go:build unix

package verify_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// What a gate's output names of the user's variables may be why it fails: it does not get them.
func TestHintNamesMissingVariables(t *testing.T) {
	t.Parallel()
	env := []string{"DATABASE_URL=secret-value", "API_KEY=k", "app_mode=x", "USE=y", "EDITOR=vi", "editor_=v", "name=n", "GOFLAGS=", "GIVEN_URL=given"}
	cases := []struct {
		name, out, want string
	}{
		{"the error of Python", "KeyError: 'DATABASE_URL'", `DATABASE_URL is set in your shell and not passed to gates: gate_env = ["DATABASE_URL"] in pawl.toml passes it`},
		{"several", "need $API_KEY, app_mode", `API_KEY, app_mode are set in your shell and not passed to gates: gate_env = ["API_KEY", "app_mode"] in pawl.toml passes them`},
		{"a part of a word", "TEST_DATABASE_URL DATABASE_URLS", ""},
		{"a short one", "USE it", ""},
		{"a common one", "set EDITOR", ""},
		{"a word like others", "name of it", ""},
		{"one that gates get", "GOFLAGS", ""},
		{"one that is passed already", "GIVEN_URL", ""},
		{"one that is not set", "OTHER_URL", ""},
	}
	v, err := verify.New(verify.Options{Root: t.TempDir(), Dir: t.TempDir(), Env: env, UserEnv: []string{"GIVEN_URL"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for place, r := range map[string]gate.Result{"head": {Head: c.out}, "tail": {Tail: c.out}, "first error": {FirstError: c.out}} {
			r.Status = gate.Fail
			if got := v.EnvironmentHint([]gate.Result{{Status: gate.Pass, Tail: "API_KEY"}, r}); got != c.want {
				t.Errorf("%s in the %s: %q", c.name, place, got)
			}
		}
	}
}

// A name alone passes what the user has, and nothing where that is not set.
func TestGateGetsVariablesByName(t *testing.T) {
	t.Parallel()
	got := run(t, gate.Gate{Name: "env", Command: `test "$DATABASE_URL" = sqlite: && test -z "${OTHER_URL+set}"`}, func(o *verify.Options) {
		o.Env = append(environ(), "DATABASE_URL=sqlite:")
		o.UserEnv = []string{"DATABASE_URL", "OTHER_URL"}
	})
	if got.Status != gate.Pass {
		t.Error(got.Reason)
	}
}
