package config_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/failure"
)

// A repository's file can only tighten confine. The hosts that it names need the user's trust,
// like commands.
func TestARepositoryOnlyTightensConfinement(t *testing.T) {
	t.Parallel()
	cases := []struct {
		user, project string
		flags         map[string]any
		want          confine.Level
		from          string
	}{
		{user: "", project: "confine = 'tree'", want: confine.Tree, from: "pawl.toml:1"},
		{user: "confine = 'strict'", project: "confine = 'tree'", want: confine.Strict, from: "config.toml"},
		{user: "confine = 'strict'", project: "confine = 'off'", want: confine.Strict, from: "config.toml"},
		{user: "confine = 'tree'", project: "confine = 'strict'", want: confine.Strict, from: "pawl.toml:1"},
		{user: "confine = 'tree'", flags: map[string]any{"confine": "off"}, want: confine.Off, from: "flags"},
	}
	for _, c := range cases {
		s, err := config.Resolve(userLayer(t, c.user), projectLayer(t, c.project), config.Flags(c.flags))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Sources["confine"].String(); s.Confine != c.want || !strings.Contains(got, c.from) {
			t.Errorf("%+v: %s from %s", c, s.Confine, got)
		}
	}
	s, err := config.Resolve(projectLayer(t, "confine_hosts = ['a.example.com', '*.b.example.com:8443']"))
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Command{
		{Kind: "confine_hosts", File: "pawl.toml", Text: "a.example.com"}, {Kind: "confine_hosts", File: "pawl.toml", Text: "*.b.example.com:8443"},
	}
	if diff := cmp.Diff(want, s.RepoCommands()); diff != "" {
		t.Error(diff)
	}
}

// A user who types a host expects that only this host can be reached, which is false without
// strict. Hosts in a file apply once somebody chooses strict.
func TestHostsNeedStrictConfinement(t *testing.T) {
	t.Parallel()
	hosts := map[string]any{"confine_hosts": []string{"a.example.com"}}
	for level, ok := range map[string]bool{"": false, "off": false, "tree": false, "strict": true} {
		typed, project := maps.Clone(hosts), ""
		if level != "" {
			typed["confine"], project = level, "confine = '"+level+"'"
		}
		_, err := config.Resolve(config.Flags(typed))
		_, above := config.Resolve(projectLayer(t, project), config.Flags(hosts))
		for _, err := range []error{err, above} {
			if (err == nil) != ok || !ok && (failure.CodeOf(err) != failure.Usage || !strings.HasPrefix(err.Error(), "--confine-host: ")) {
				t.Errorf("%q: %v", level, err)
			}
		}
		if _, err := config.Resolve(projectLayer(t, project+"\nconfine_hosts = ['a.example.com']")); err != nil {
			t.Errorf("%q, in a file: %v", level, err)
		}
	}
}
