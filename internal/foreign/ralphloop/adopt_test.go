package ralphloop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/foreign/freshness"
	"github.com/pawl-dev/pawl/internal/foreign/ralphloop"
)

func TestAdoptChecksTheFile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const (
		mine   = "mine"
		yes    = "yes"
		silent = ""
		old    = ".claude/ralph-loop.local.md names no session and is too old to start by itself; to start it:  BEGIN"
	)
	active := ralphloop.File{Active: true}
	bound := ralphloop.File{Active: true, SessionID: mine}
	tests := []struct {
		name string
		file ralphloop.File
		c    freshness.FileContext
		want string // yes, or why not
	}{
		{"of this session", bound, freshness.FileContext{SessionID: mine}, yes},
		{"of this session, however old", bound, freshness.FileContext{SessionID: mine, Modified: ago(99 * time.Hour), SessionStarted: ago(time.Hour)}, yes},
		{"of another", bound, freshness.FileContext{SessionID: "other", Modified: now}, silent},
		{"of another, asked by nobody", bound, freshness.FileContext{Modified: now}, silent},
		{"of another, and tracked", bound, freshness.FileContext{SessionID: "other", Tracked: true, Followed: true}, silent},
		{"tracked", bound, freshness.FileContext{SessionID: mine, Tracked: true}, "git tracks .claude/ralph-loop.local.md, so it may have come with a clone; if it is yours: git rm --cached .claude/ralph-loop.local.md"},
		{"the plugin's", bound, freshness.FileContext{SessionID: mine, Followed: true}, "the ralph-loop plugin is enabled: .claude/ralph-loop.local.md is left to it"},
		{"not active", ralphloop.File{SessionID: mine}, freshness.FileContext{SessionID: mine}, ".claude/ralph-loop.local.md says that the loop is not active; to begin one set active: true"},
		{"nobody's, tracked", active, freshness.FileContext{Modified: now, Tracked: true}, "git tracks .claude/ralph-loop.local.md, so it may have come with a clone; if it is yours: git rm --cached .claude/ralph-loop.local.md"},
		{"nobody's, younger", active, freshness.FileContext{Modified: ago(2 * time.Hour), SessionStarted: ago(3 * time.Hour)}, yes},
		{"nobody's, of a script that then started the client", active, freshness.FileContext{Modified: ago(100 * time.Second), SessionStarted: ago(time.Minute)}, yes},
		{"nobody's, older", active, freshness.FileContext{Modified: ago(3 * time.Minute), SessionStarted: ago(time.Minute)}, old},
		{"nobody's, an hour", active, freshness.FileContext{Modified: ago(time.Hour)}, yes},
		{"nobody's, more than an hour", active, freshness.FileContext{Modified: ago(time.Hour + 1)}, old},
		{"nobody's, time not known", active, freshness.FileContext{}, old},
		{"nobody's, time not known, session known", active, freshness.FileContext{SessionStarted: ago(time.Minute)}, old},
		{"a clock that is ahead", active, freshness.FileContext{Modified: ago(-time.Minute)}, yes},
		{"from the future", active, freshness.FileContext{Modified: ago(-time.Hour), SessionStarted: ago(time.Minute)}, ".claude/ralph-loop.local.md names no session, and its time lies in the future"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.c.Now, tt.c.StartCommand = now, "BEGIN"
			ok, why := ralphloop.MayFollow(&tt.file, tt.c)
			if ok != (tt.want == yes) || !ok && why != tt.want || ok && why != "" {
				t.Errorf("got %v, %q; want %q", ok, why, tt.want)
			}
		})
	}
}
