package featureloop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/featureloop"
)

func TestAdoptChecksTheFolder(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const (
		yes      = "yes"
		silent   = ""
		complete = "progress.txt says COMPLETE, but 2 of the features do not pass: set its Status to IN_PROGRESS to continue"
	)
	is := func(status string) string { return strings.Replace(sample, "IN_PROGRESS", status, 1) }
	type circumstances = featureloop.FolderContext
	const before = "progress.txt is too old to start by itself; to start it:  BEGIN"
	tests := []struct {
		name, text string
		c          circumstances
		want       string // yes, or why not
	}{
		{"younger than the session", sample, circumstances{Open: 2, Modified: ago(time.Hour), SessionStarted: ago(2 * time.Hour)}, yes},
		{"of a script that then started the client", sample, circumstances{Open: 2, Modified: ago(100 * time.Second), SessionStarted: ago(time.Minute)}, yes},
		{"older than the session", sample, circumstances{Open: 2, Modified: ago(2 * time.Hour), SessionStarted: ago(time.Hour)}, before},
		{"older by far", sample, circumstances{Open: 2, Modified: ago(25 * time.Hour), SessionStarted: ago(time.Hour)}, silent},
		{"older, and ended", is("stuck"), circumstances{Open: 2, Modified: ago(2 * time.Hour), SessionStarted: ago(time.Hour)}, silent},
		{"an hour", sample, circumstances{Open: 2, Modified: ago(time.Hour)}, yes},
		{"more than an hour", sample, circumstances{Open: 2, Modified: ago(time.Hour + 1)}, before},
		{"a clock that is ahead", sample, circumstances{Open: 2, Modified: ago(-time.Minute)}, yes},
		{"from the future", sample, circumstances{Open: 2, Modified: ago(-time.Hour)}, "the time of progress.txt lies in the future"},
		{"tracked", sample, circumstances{Open: 2, Modified: now, Tracked: true}, "git tracks progress.txt, so it may have come with a clone; if it is yours: RALPH_LOOP_DIR=. claude"},
		{"tracked and old", sample, circumstances{Open: 2, Tracked: true}, silent},
		{"outside", sample, circumstances{Open: 2, Modified: now, Outside: true, Tracked: true}, "progress.txt is outside the project"},
		{"outside, named", sample, circumstances{Open: 2, Chosen: true, Outside: true}, "progress.txt is outside the project"},
		{"outside and old", sample, circumstances{Open: 2, Outside: true}, silent},
		{"named by the user", sample, circumstances{Open: 2, Chosen: true, Tracked: true}, yes},
		{"named, and nothing in it", "", circumstances{Open: 2, Chosen: true}, yes},
		{"nothing open", sample, circumstances{Chosen: true, Modified: now}, silent},
		{"COMPLETE, but it is not", is("COMPLETE"), circumstances{Open: 2, Modified: now}, complete},
		{"COMPLETE, named", is("COMPLETE (all of it)"), circumstances{Open: 2, Chosen: true}, complete},
		{"COMPLETE of a list that cannot be read", is("COMPLETE"), circumstances{Open: -1, Chosen: true}, silent},
		{"a list that cannot be read", sample, circumstances{Open: -1, Modified: now}, yes},
		{"COMPLETE and old", is("COMPLETE"), circumstances{Open: 2}, silent},
		{"REACHED_LIMIT", is("REACHED_LIMIT"), circumstances{Open: 2, Modified: now}, silent},
		{"stuck", is("stuck"), circumstances{Open: 2, Chosen: true}, silent},
		{"a status of its own", is("ON FEATURE 2"), circumstances{Open: 2, Modified: now}, yes},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.c.Now, tt.c.StartCommand = now, "BEGIN"
			ok, why := featureloop.MayFollow(parse(t, tt.text), tt.c)
			if ok != (tt.want == yes) || !ok && why != tt.want || ok && why != "" {
				t.Errorf("got %v, %q; want %q", ok, why, tt.want)
			}
		})
	}
}

func TestInvalidListsAreErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, list, want string }{
		{"as it should be", `{"features": [{"id": 1, "description": "One", "passes": false}]}`, ""},
		{"bare, all of it passes", `[{"passes": true}]`, ""},
		{"a byte order mark", "\ufeff[{}]", ""},
		{"what a plan's reader tells of", `{"features": [1]}`, ""},
		{"cut off", "\n{\"features\": [\n{\"id\": 1,\n\n", "list:3: this is not JSON: it ends too early"},
		{"malformed", "[\n{\"id\": 1,}\n]", "list:2: this is not JSON: invalid character '}' looking for beginning of object key string"},
		{"empty", "", "list:1: this is not JSON: it ends too early"},
		{"no features", `{"features": []}`, "list:1: there are no features in it"},
		{"no such key", `{"stories": [{}]}`, "list:1: there are no features in it"},
		{"null", "null", "list:1: there are no features in it"},
		{"features of another kind", `{"features": {"a": 1}}`, "list:1: there are no features in it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := featureloop.ValidateList("list", []byte(tt.list))
			switch {
			case (err == nil) != (tt.want == ""), err != nil && err.Error() != tt.want:
				t.Errorf("got %v, want %q", err, tt.want)
			case err != nil && !strings.Contains(failure.Hint(err), `{"features": [{"id"`):
				t.Errorf("hint %q", failure.Hint(err))
			}
		})
	}
}

func TestOpenFeaturesAreCounted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, list string
		open       int
		ok         bool
	}{
		{"wrapped", `{"features":[{"passes":true},{"passes":false},{}],"total_features":9}`, 2, true},
		{"bare", ` [{"passes":true},{"passes":null}]`, 1, true},
		{"byte order mark", "\ufeff" + `[{"passes":true}]`, 0, true},
		{"text is no truth", `[{"passes":"true"},{"passes":1}]`, 2, true},
		{"empty", `{"features":[],"total_features":0}`, 0, false},
		{"no features", `{"total_features":2}`, 0, false},
		{"no list", `{"features":{"a":1}}`, 0, false},
		{"no objects", `["a"]`, 0, false},
		{"broken", `{"features":[{"passes":true}`, 0, false},
		{"no file", "", 0, false},
	}
	for _, tt := range tests {
		n, ok := featureloop.CountOpen([]byte(tt.list))
		if ok != tt.ok || ok && n != tt.open {
			t.Errorf("%s: %d, %v; want %d, %v", tt.name, n, ok, tt.open, tt.ok)
		}
	}
}
