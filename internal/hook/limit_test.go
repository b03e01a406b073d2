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

// appendTranscript adds lines to the session's transcript, with the current time.
func (d *dialogue) appendTranscript(lines ...string) {
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

// usageLimitLine returns the client's transcript line for a usage limit.
func usageLimitLine(at time.Time) string {
	return fmt.Sprintf(`{"type":"assistant","isSidechain":false,"apiError":"usage_limit_reached","quotaLimits":{"status":"rejected","resetsAt":%d}}`, at.Unix())
}

// continuation is the client's line for the prompt with which it continues after a usage limit.
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
			runWithFakeClock(t, func(d *dialogue) {
				switch {
				case tt.reset != 0:
					d.appendTranscript(usageLimitLine(time.Now().Add(tt.reset)))
				case name == "of an earlier answer":
					d.appendTranscript(usageLimitLine(time.Now().Add(time.Hour)), `{"type":"assistant","message":{"content":[]}}`)
				}
				ends := d.startWakers(2, limited)
				d.sendEvent(limited)
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

// The client continues after a usage limit. Pawl does not prompt the session as well, however long a
// tool call of that turn takes, and the turn counts for the loop.
func TestClientResumesAfterUsageLimit(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		d.appendTranscript(usageLimitLine(time.Now().Add(10 * time.Minute)))
		ends := d.startWakers(2, limited)
		d.sendEvent(limited)
		time.Sleep(11 * time.Minute)
		d.sendEvent(continues)
		d.appendTranscript(continuation)
		time.Sleep(10 * time.Minute)
		if len(ends) > 0 {
			t.Fatalf("in the client's turn: %+v", <-ends)
		}
		if got := d.sendEvent(`Stop {"prompt_id":"a1"}`); !strings.Contains(got, "2/25 · continuing") {
			t.Error(got)
		}
		for range 2 {
			if e := <-ends; e.code != exitOK || e.text != "" {
				t.Errorf("%+v", e)
			}
		}
	})
}

// If the client's next turn meets the limit again, the client retries after one minute, then after
// five. Pawl does not interfere during that time.
func TestClientMeetsUsageLimitAgain(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		d.appendTranscript(usageLimitLine(time.Now().Add(time.Minute)))
		d.sendEvent(limited)
		time.Sleep(2 * time.Minute)
		d.sendEvent(continues)
		d.appendTranscript(continuation, usageLimitLine(time.Now()))
		again := `StopFailure {"error":"rate_limit","prompt_id":"a1","last_assistant_message":"limit"}`
		ends := d.startWakers(1, again)
		d.sendEvent(again)
		if e := <-ends; e.code != exitWake || e.after < clientRetryTime || e.after > clientRetryTime+time.Minute {
			t.Errorf("%+v", e)
		}
	})
}

// The client was prompted to continue, but the user ended that turn with Esc.
func TestWakerWakesAfterEscInClientTurn(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		d.appendTranscript(usageLimitLine(time.Now().Add(time.Minute)))
		ends := d.startWakers(1, limited)
		d.sendEvent(limited)
		time.Sleep(2 * time.Minute)
		d.sendEvent(continues)
		d.appendTranscript(continuation)
		if e := <-ends; e.code != exitWake || !strings.Contains(e.text, "PROMPT") || e.after < clientTurnSilence {
			t.Errorf("%+v", e)
		}
	})
}
