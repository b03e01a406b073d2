package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	limited   = `StopFailure {"error":"rate_limit","last_assistant_message":"You've hit your 5-hour limit · resets 9:22am (UTC)"}`
	continues = `UserPromptSubmit {"prompt_id":"a1","prompt":"Your claude.ai usage limit has reset. Continue the task."}`
)

// writes adds lines to the session's transcript, at this very time.
func (d *dialogue) writes(lines ...string) {
	d.t.Helper()
	path := filepath.Join(d.root, "transcript.jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
		d.t.Fatal(err)
	}
}

// limitedUntil is the client's line for an answer of the API that a usage limit
// was reached.
func limitedUntil(at time.Time) string {
	return fmt.Sprintf(`{"type":"assistant","isSidechain":false,"apiError":"usage_limit_reached","quotaLimits":{"status":"rejected","resetsAt":%d}}`, at.Unix())
}

// continuation is the client's line for the prompt with which it continues by itself.
const continuation = `{"type":"user","promptId":"a1","turnOrigin":"auto_continuation","message":{"role":"user","content":"Your claude.ai usage limit has reset."}}`

func TestWakerWaitsForUsageLimitReset(t *testing.T) {
	for name, tt := range map[string]struct{ reset, least, most time.Duration }{
		"in twenty minutes":       {20 * time.Minute, 20*time.Minute + clientResumeTime, 20*time.Minute + clientResumeTime + time.Minute},
		"a time that cannot be":   {10_000 * time.Hour, time.Minute, 6 * time.Minute},
		"a time that has passed":  {-time.Hour, clientResumeTime, clientResumeTime + time.Minute},
		"of an earlier answer":    {0, time.Minute, 6 * time.Minute},
		"with no transcript kept": {0, time.Minute, 6 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			asleep(t, func(d *dialogue) {
				switch {
				case tt.reset != 0:
					d.writes(limitedUntil(time.Now().Add(tt.reset)))
				case name == "of an earlier answer":
					d.writes(limitedUntil(time.Now().Add(time.Hour)), `{"type":"assistant","message":{"content":[]}}`)
				}
				ends := d.wakers(2, limited)
				d.say(limited)
				a, b := <-ends, <-ends
				if a.code != exitWake {
					a, b = b, a
				}
				if a.code != exitWake || !strings.Contains(a.text, "PROMPT of iteration 1, interrupted") || b.code != exitOK {
					t.Errorf("woke with\n%+v\n%+v", a, b)
				}
				if a.after < tt.least || a.after > tt.most {
					t.Errorf("woke after %s, want %s to %s", a.after, tt.least, tt.most)
				}
			})
		})
	}
}

// The client continues by itself after a usage limit: the session is not told to by
// Pawl too, however long a tool call of that turn takes, and the turn is the loop's.
func TestClientResumesAfterUsageLimit(t *testing.T) {
	asleep(t, func(d *dialogue) {
		d.writes(limitedUntil(time.Now().Add(10 * time.Minute)))
		ends := d.wakers(2, limited)
		d.say(limited)
		time.Sleep(11 * time.Minute)
		d.say(continues)
		d.writes(continuation)
		time.Sleep(10 * time.Minute)
		if len(ends) > 0 {
			t.Fatalf("in the client's turn: %+v", <-ends)
		}
		if got := d.say(`Stop {"prompt_id":"a1"}`); !strings.Contains(got, "2/25 · continuing") {
			t.Error(got)
		}
		for range 2 {
			if e := <-ends; e.code != exitOK || e.text != "" {
				t.Errorf("%+v", e)
			}
		}
	})
}

// The limit is met again by the turn with which the client continued: it tries once
// more after a minute, then after five, and Pawl leaves it that time.
func TestClientMeetsUsageLimitAgain(t *testing.T) {
	asleep(t, func(d *dialogue) {
		d.writes(limitedUntil(time.Now().Add(time.Minute)))
		d.say(limited)
		time.Sleep(2 * time.Minute)
		d.say(continues)
		d.writes(continuation, limitedUntil(time.Now()))
		again := `StopFailure {"error":"rate_limit","prompt_id":"a1","last_assistant_message":"limit"}`
		ends := d.wakers(1, again)
		d.say(again)
		if e := <-ends; e.code != exitWake || e.after < clientRetryTime || e.after > clientRetryTime+time.Minute {
			t.Errorf("%+v", e)
		}
	})
}

// The client was told to continue and that turn never came to an end (Esc).
func TestWakerWakesAfterEscInClientTurn(t *testing.T) {
	asleep(t, func(d *dialogue) {
		d.writes(limitedUntil(time.Now().Add(time.Minute)))
		ends := d.wakers(1, limited)
		d.say(limited)
		time.Sleep(2 * time.Minute)
		d.say(continues)
		d.writes(continuation)
		if e := <-ends; e.code != exitWake || !strings.Contains(e.text, "PROMPT") || e.after < clientTurnSilence {
			t.Errorf("%+v", e)
		}
	})
}
