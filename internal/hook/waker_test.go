package hook

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/session"
)

// wakerResult is the result of a waker process.
type wakerResult struct {
	code  int
	text  string // on stderr: what the session is woken with
	after time.Duration
}

// startWakers starts n wakers for one stop, like independent installations, and returns their
// results.
func (d *dialogue) startWakers(n int, event string) <-chan wakerResult {
	ends := make(chan wakerResult, n)
	payload := d.payload(event)
	for range n {
		go func() {
			at := time.Now()
			out, problem, code := d.run(bytes.NewReader(payload), "claude", "--wake")
			if len(out) > 0 {
				d.t.Errorf("a waker printed %s", out)
			}
			ends <- wakerResult{code, string(problem), time.Since(at)}
		}()
	}
	return ends
}

// sendEvent sends an event and returns the answer.
func (d *dialogue) sendEvent(event string) string {
	out, problem, _ := d.hook(d.payload(event))
	return string(out) + string(problem)
}

func (d *dialogue) setGateResults(words string) { d.perform("gates", words) }

// runWithFakeClock runs f with a fake clock, so that waits take no time.
func runWithFakeClock(t *testing.T, f func(d *dialogue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &dialogue{fixture: newFixture(t)}
		d.begin(usualSpec())
		f(d)
	})
}

const (
	claims   = `Stop {"last_assistant_message":"<promise>DONE</promise>"}`
	bySelf   = `UserPromptSubmit {"prompt_id":"n1","prompt":"<task-notification>\n<summary>Stop hook feedback"}`
	byPerson = `UserPromptSubmit {"prompt_id":"p2","prompt":"and?"}`
)

// leaveUngatedClaim leaves the session with a claim whose gates have not run, because each driver
// died.
func (d *dialogue) leaveUngatedClaim() {
	d.t.Helper()
	d.setGateResults("dies dies dies")
	if got := d.sendEvent(claims); !strings.Contains(got, "cannot continue: killed") {
		d.t.Fatal(got)
	}
}

// driveWithResults performs the loop's actions, with these gate results.
func (d *dialogue) driveWithResults(words string) {
	d.t.Helper()
	d.setGateResults(words)
	if err := drive(d.t.Context(), d.home, d.loop.ID); err != nil {
		d.t.Fatal(err)
	}
}

func TestOneOfTwoWakersDeliversTheVerdict(t *testing.T) {
	for _, tt := range []struct{ name, verdicts, says string }{
		{"red", "red", "PROMPT of iteration 2, gates_failed"},
		{"green", "green green", "ended VERIFIED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runWithFakeClock(t, func(d *dialogue) {
				ends := d.startWakers(2, claims)
				time.Sleep(time.Second)
				d.leaveUngatedClaim()
				time.Sleep(5 * time.Second)
				if len(ends) > 0 {
					t.Fatalf("ended before the verdict: %+v", <-ends)
				}
				d.driveWithResults(tt.verdicts)
				a, b := <-ends, <-ends
				if a.code != exitWake {
					a, b = b, a
				}
				if a.code != exitWake || !strings.Contains(a.text, tt.says) || b.code != exitOK || b.text != "" {
					t.Errorf("woke with\n%+v\n%+v", a, b)
				}
			})
		})
	}
}

// A woken session continues like any other, and does not get the prompt that woke it again.
func TestWokenSessionGetsItsPromptOnce(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		ends := d.startWakers(1, claims)
		d.leaveUngatedClaim()
		d.driveWithResults("red")
		if e := <-ends; e.code != exitWake {
			t.Fatalf("%+v", e)
		}
		d.sendEvent(bySelf)
		got := d.sendEvent(`Stop {"prompt_id":"n1","stop_hook_active":true}`)
		if !strings.Contains(got, "3/25 · continuing") {
			t.Error(got)
		}
	})
}

// If no process drives the loop, the waker starts a driver.
func TestWakerRestartsDeadDriver(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		ends := d.startWakers(1, claims)
		d.leaveUngatedClaim()
		d.setGateResults("dies red")
		e := <-ends
		if e.code != exitWake || !strings.Contains(e.text, "iteration 2, gates_failed") || e.after < driverTimeout || e.after > time.Minute {
			t.Errorf("%+v", e)
		}
	})
}

func TestWakerWaitsUntilTurnIsDue(t *testing.T) {
	for _, tt := range []struct {
		name, event, says string
		least             time.Duration
	}{
		{"overloaded", `StopFailure {"error":"overloaded"}`, "PROMPT of iteration 1, interrupted", time.Second},
		{"usage limit", `StopFailure {"error":"rate_limit"}`, "PROMPT of iteration 1, interrupted", time.Minute},
		{"cut off", `StopFailure {"error":"max_output_tokens"}`, "PROMPT of iteration", 0},
		{"background", `Stop {"background_tasks":[{"id":"b1","status":"running","description":"make"}]}`, "PROMPT of iteration 2", 9 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runWithFakeClock(t, func(d *dialogue) {
				ends := d.startWakers(2, tt.event)
				d.sendEvent(tt.event)
				a, b := <-ends, <-ends
				if a.code != exitWake {
					a, b = b, a
				}
				if a.code != exitWake || !strings.Contains(a.text, tt.says) || a.after < tt.least || b.code != exitOK {
					t.Errorf("woke with\n%+v\n%+v", a, b)
				}
			})
		})
	}
}

// The machine's clock is set back by an hour before the loop waits.
func TestWakerWaitsNoLongerWhenTheClockIsSetBack(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		h := &handler{Call: Call{Env: d.env}}
		h.clock.Machine = func() time.Time { return time.Now().Add(time.Hour) }
		if err := h.withLease(d.t.Context(), d.binding(d.loop.ID), func(s *lease) error {
			return s.step(loop.Event{ID: "m", Payload: loop.MessageArrived{Text: "before it was set"}})
		}); err != nil {
			t.Fatal(err)
		}
		const overloaded = `StopFailure {"error":"overloaded"}`
		ends := d.startWakers(1, overloaded)
		d.sendEvent(overloaded)
		if e := <-ends; e.code != exitWake || e.after > time.Minute {
			t.Errorf("woke with %+v", e)
		}
	})
}

func TestWakerLeavesUserTurnAlone(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		// The client writes to it all the while: the file's time is the real one.
		if err := os.WriteFile(filepath.Join(d.root, "transcript.jsonl"), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		ends := d.startWakers(1, claims)
		d.leaveUngatedClaim()
		time.Sleep(2 * time.Second)
		d.sendEvent(byPerson)
		d.driveWithResults("red")
		time.Sleep(time.Minute)
		if len(ends) > 0 {
			t.Fatalf("in the user's turn: %+v", <-ends)
		}
		if got := d.sendEvent(`Stop {"prompt_id":"p2"}`); !strings.Contains(got, "PROMPT") && !strings.Contains(got, "CONTINUE") {
			t.Error(got)
		}
		if e := <-ends; e.code != exitOK || e.text != "" {
			t.Errorf("%+v", e)
		}
	})
}

// Esc ends a turn without an event to any hook. Only the silence of the transcript shows that no turn
// runs.
func TestWakerWakesAfterEsc(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		path := filepath.Join(d.root, "transcript.jsonl")
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		ends := d.startWakers(1, claims)
		d.leaveUngatedClaim()
		time.Sleep(2 * time.Second)
		d.sendEvent(byPerson)
		if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
		d.driveWithResults("red")
		if e := <-ends; e.code != exitWake || !strings.Contains(e.text, "PROMPT") || e.after < userTurnSilence {
			t.Errorf("%+v", e)
		}
	})
}

func TestWakerExitsWithItsReason(t *testing.T) {
	tests := map[string]func(d *dialogue){
		"the session continues": func(d *dialogue) { d.sendEvent(`Stop`) },
		"a newer stop": func(d *dialogue) {
			d.leaveUngatedClaim()
			d.sendEvent(`Stop {"prompt_id":"p7","last_assistant_message":"another"}`)
		},
		"the loop is gone":  func(d *dialogue) { d.leaveUngatedClaim(); d.perform("rm", "LOOP") },
		"another owner":     func(d *dialogue) { d.leaveUngatedClaim(); d.perform("own", ""); d.perform("drive", "") },
		"the session moved": func(d *dialogue) { d.leaveUngatedClaim(); d.sendEvent(`SessionEnd {"reason":"clear"}`) },
		"a damaged journal": func(d *dialogue) {
			d.leaveUngatedClaim()
			d.perform("rm", "LOOP/state.json")
			d.perform("replace", `LOOP/journal.jsonl "bound" "bxund"`)
		},
		"a damaged binding": func(d *dialogue) {
			d.leaveUngatedClaim()
			_ = os.WriteFile(filepath.Join(d.home, "sessions", "s1.json"), []byte("{"), 0o600)
		},
		"the loop was ended": func(d *dialogue) { d.perform("post", "stop"); d.sendEvent(`Stop`) },
	}
	for name, do := range tests {
		t.Run(name, func(t *testing.T) {
			runWithFakeClock(t, func(d *dialogue) {
				event := claims
				if name == "the session continues" || name == "the loop was ended" {
					event = "Stop"
				}
				ends := d.startWakers(2, event)
				time.Sleep(time.Second)
				do(d)
				for range 2 {
					if e := <-ends; e.code == exitWake || e.after > answerTimeout+time.Minute {
						t.Errorf("%+v", e)
					}
				}
			})
		})
	}
}

func TestWakerExitsAtOnceWhenNotNeeded(t *testing.T) {
	tests := map[string]func(d *dialogue) string{
		"unattended session":      func(d *dialogue) string { d.env.Session.Unattended = true; return claims },
		"at other events":         func(*dialogue) string { return "SessionStart" },
		"in a subagent":           func(*dialogue) string { return `SubagentStop {"agent_id":"a"}` },
		"in a session of no loop": func(*dialogue) string { return `Stop {"session_id":"s9"}` },
		"in pawl run":             func(d *dialogue) string { d.env.Loop = "x"; return claims },
		"beside another installation": func(d *dialogue) string {
			_, err := session.Open(d.home).Change(d.t.Context(), "s1", func(b *session.Binding) bool { b.Responder = "plugin"; return true })
			if err != nil {
				d.t.Fatal(err)
			}
			return claims
		},
	}
	for name, event := range tests {
		t.Run(name, func(t *testing.T) {
			runWithFakeClock(t, func(d *dialogue) {
				if e := <-d.startWakers(1, event(d)); e.code != exitOK || e.text != "" || e.after > 0 {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

// A killed client leaves its hooks behind.
func TestWakerEndsWhenClientIsKilled(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		d.leaveUngatedClaim()
		var out, problem bytes.Buffer
		at := time.Now()
		code := Run(t.Context(), Call{
			Args: []string{"claude", "--wake"}, In: bytes.NewReader(d.payload(claims)), Out: &out, Err: &problem,
			Env: d.env, Tool: os.Args[:1], IsOrphaned: func() bool { return true },
		})
		if code != exitOK || problem.Len() > 0 || time.Since(at) > time.Second {
			t.Errorf("exit %d after %s: %s", code, time.Since(at), problem.String())
		}
	})
}
