package thloop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/freshness"
	"github.com/pawl-dev/pawl/internal/foreign/thloop"
)

const path = ".claude/th-loop.local.md"

// sample is a file as in th-loop's documents.
const sample = `---
status: active          # hook が動く条件
started: 1738303200     # epoch秒
max: 10                 # 最大 iteration
iteration: 3            # 現在の iteration
duration: 0             # 秒単位の制限（0=無制限）
prompt: ""              # 固定プロンプト（空ならチャンネル差分）
---
`

var ignoreBytes = cmpopts.IgnoreUnexported(thloop.File{})

func parse(t *testing.T, text string) *thloop.File {
	t.Helper()
	f, err := thloop.Parse(path, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

// TestFileIsParsed checks the rows of docs/reference/th-loop.md about the state file.
func TestFileIsParsed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       thloop.File
	}{
		{"as documented", sample, thloop.File{Status: "active", Iteration: 3, Max: 10, MaxGiven: true, DurationGiven: true}},
		{"fixed started", "---\nstatus: active\nstarted: 1737304800\nduration: 60\n---\n", thloop.File{Status: "active", Duration: time.Minute, DurationGiven: true}},
		{"comment without a blank", "---\nstatus: active #x\nmax: 5 #最大\n---\n", thloop.File{Status: "active", Max: 5, MaxGiven: true}},
		{"no blank after the colon", "---\nstatus:active\niteration:4\n---\n", thloop.File{Status: "active", Iteration: 4}},
		{"CRLF and byte order mark", "\ufeff---\r\nstatus: active\r\nmax: 2\r\n---\r\n", thloop.File{Status: "active", Max: 2, MaxGiven: true}},
		{"leading zero", "---\nstatus: active\nmax: 08\n---\n", thloop.File{Status: "active", Max: 8, MaxGiven: true}},
		{"max 0", "---\nstatus: active\nmax: 0\n---\n", thloop.File{Status: "active", MaxGiven: true}},
		{"keys left out", "---\nstatus: active\n---\n", thloop.File{Status: "active"}},
		{"no status", "---\niteration: 1\n---\n", thloop.File{Iteration: 1}},
		{"prompt as body", "---\niteration: 1\n---\n\nCheck the queues.\n", thloop.File{Iteration: 1, Prompt: "Check the queues."}},
		{"quoted status", "---\nstatus: \"Active\"\n---\n", thloop.File{Status: "Active"}},
		{"other status", "---\nstatus: paused\n---\n", thloop.File{Status: "paused"}},
		{"duration with units", "---\nduration: 90m\n---\n", thloop.File{Duration: 90 * time.Minute, DurationGiven: true}},
		{"every", "---\nevery: 300\n---\n", thloop.File{Every: 5 * time.Minute}},
		{"fixed prompt", "---\nprompt: \"Check \"all\" the queues\" # x\n---\n", thloop.File{Prompt: `Check "all" the queues`}},
		{"prompt without quotes", "---\nprompt: Fix issue #3: now\n---\n", thloop.File{Prompt: "Fix issue #3: now"}},
		{"prompt over lines", "---\nprompt: |\n  Look.\n  Think.\nmax: 3\n---\n", thloop.File{Prompt: "Look.\nThink.", Max: 3, MaxGiven: true}},
		{"prompt that is no UTF-8", "---\nprompt: a\xff\n---\n", thloop.File{Prompt: "a�"}},
		{"null prompt", "---\nprompt: null\n---\n", thloop.File{}},
		{"text below the front matter", "---\nstatus: active\n---\n# Notes\nstatus: done\n---\n", thloop.File{Status: "active"}},
		{"other keys", "---\nowner: nao\n# status: done\nstatus: active\n---\n", thloop.File{Status: "active"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(&tt.want, parse(t, tt.text), ignoreBytes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusIsActiveOrPaused(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]bool{"active": true, "ACTIVE": true, "": false, "completed": false, "stopped": false, "active now": false} {
		if got := parse(t, "---\nstatus: "+status+"\n---\n").IsActive(); got != want {
			t.Errorf("%q: %v, want %v", status, got, want)
		}
	}
	if !parse(t, "---\nmax: 3\n---\n").IsActive() {
		t.Error("a file without a status is not active")
	}
}

func TestSetChangesOneValue(t *testing.T) {
	t.Parallel()
	f := parse(t, sample)
	got := string(f.SetIteration(4).SetStatus(thloop.Completed).SetLastRead(time.Unix(1738303999, 0)).Bytes())
	want := strings.NewReplacer("active ", "completed ", "iteration: 3 ", "iteration: 4 ", "差分）\n", "差分）\nlast_read_timestamp: 1738303999\n").Replace(sample)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if string(f.Bytes()) != sample {
		t.Error("the file before was changed")
	}
}

func TestLastReadKeepsItsForm(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 23, 59, 58, 0, time.FixedZone("", 9*3600))
	for was, want := range map[string]string{
		"":                            "1769871598",
		"1738303200":                  "1769871598",
		"soon":                        "1769871598",
		"2026-01-31 10:00:00":         "2026-01-31 23:59:58",
		`"2026-01-31 10:00"`:          `"2026-01-31 23:59"`,
		"2026-01-31T10:00:00+09:00":   "2026-01-31T23:59:58+09:00",
		"2026-01-31T10:00:00  # read": "2026-01-31T23:59:58  # read",
		"10:00":                       "23:59",
	} {
		got := string(parse(t, "---\nlast_read_timestamp: "+was+"\n---\n").SetLastRead(at).Bytes())
		if got != "---\nlast_read_timestamp: "+want+"\n---\n" && got != "---\nlast_read_timestamp: "+want+" \n---\n" {
			t.Errorf("%q became %q", was, got)
		}
	}
}

func TestMalformedFilesAreErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"no front matter", "status: active\n", path + ":1: the file does not begin with front matter: expected a line with --- alone"},
		{"no end", "---\nstatus: active\n", path + ":1: the front matter that begins here does not end: expected a second line with --- alone"},
		{"iteration is text", "---\niteration: many\n---\n", path + `:2: iteration is "many": expected a whole number`},
		{"negative max", "---\nstatus: active\nmax: -1\n---\n", path + `:3: max is "-1": expected a whole number, 0 for unlimited`},
		{"duration is text", "---\nduration: long\n---\n", path + `:2: duration is "long": expected seconds or a duration such as 90s, 10m or 8h, 0 for none`},
		{"duration for ever", "---\nduration: 99999999999\n---\n", path + `:2: duration is "99999999999": expected seconds or a duration such as 90s, 10m or 8h, 0 for none`},
		{"negative every", "---\nevery: -5m\n---\n", path + `:2: every is "-5m": expected seconds or a duration such as 90s, 10m or 8h, 0 for none`},
		{"twice", "---\nmax: 1\nmax: 2\n---\n", path + ":3: max is set twice: expected only the one on line 2"},
		{"UTF-16", "\xff\xfe-\x00-\x00", path + ":1: this is not UTF-8 text: expected a file saved as UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := thloop.Parse(path, []byte(tt.text))
			if err == nil || err.Error() != tt.want {
				t.Fatalf("got  %v\nwant %s", err, tt.want)
			}
			if failure.Hint(err) == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestAdoptChecksTheFile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const (
		yes = "yes"
		old = path + " is too old to start by itself; to start it:  BEGIN"
	)
	active := thloop.File{Status: "active"}
	tests := []struct {
		name string
		file thloop.File
		c    freshness.FileContext
		want string // yes, or why not
	}{
		{"younger than the session", active, freshness.FileContext{Modified: ago(time.Hour), SessionStarted: ago(2 * time.Hour)}, yes},
		{"of a script that then started the client", active, freshness.FileContext{Modified: ago(100 * time.Second), SessionStarted: ago(time.Minute)}, yes},
		{"older than the session", active, freshness.FileContext{Modified: ago(time.Hour), SessionStarted: ago(time.Minute)}, old},
		{"an hour, session not known", active, freshness.FileContext{Modified: ago(time.Hour)}, yes},
		{"more than an hour, session not known", active, freshness.FileContext{Modified: ago(time.Hour + 1)}, old},
		{"from the future", active, freshness.FileContext{Modified: ago(-time.Hour)}, path + " has a time in the future"},
		{"not active", thloop.File{Status: "completed"}, freshness.FileContext{Modified: now, Tracked: true}, ""},
		{"tracked", active, freshness.FileContext{Modified: now, Tracked: true}, "git tracks " + path + ", so it may have come with a clone; if it is yours: git rm --cached " + path},
		{"its own hook", active, freshness.FileContext{Modified: now, Followed: true}, "th-loop's own hook is installed: " + path + " handles it; remove that hook to let pawl follow it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.c.Now, tt.c.StartCommand = now, "BEGIN"
			ok, why := thloop.MayFollow(path, &tt.file, tt.c)
			if ok != (tt.want == yes) || !ok && why != tt.want || ok && why != "" {
				t.Errorf("got %v, %q; want %q", ok, why, tt.want)
			}
		})
	}
}

func TestMessageTexts(t *testing.T) {
	t.Parallel()
	if got := thloop.EndedMessage(61*time.Second + time.Millisecond); got != "th-loop completed: 61s elapsed" {
		t.Error(got)
	}
	if got := thloop.NoNewsMessage(time.Date(2026, 1, 31, 14, 30, 5, 0, time.UTC)); got != "(No new messages since 2026-01-31 14:30:05)" {
		t.Error(got)
	}
}
