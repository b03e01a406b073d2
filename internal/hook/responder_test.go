package hook

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/session"
)

// answerAsInstallations sends one event to the hooks of several installations at once, as the client
// does, and returns which ones answered.
func (d *dialogue) answerAsInstallations(event string, names ...string) (answered []string) {
	d.t.Helper()
	payload := d.payload(event)
	var wg sync.WaitGroup
	outs := make([]string, len(names))
	for i, name := range names {
		w := *d.fixture
		if name == "plugin" {
			w.env.Session.Plugin = w.root
		}
		wg.Go(func() {
			out, _, _ := w.run(bytes.NewReader(payload), "claude")
			outs[i] = string(out)
		})
	}
	wg.Wait()
	for i, out := range outs {
		if strings.Contains(out, "additionalContext") {
			answered = append(answered, names[i])
		} else if out != "" {
			d.t.Errorf("%s said %s", names[i], out)
		}
	}
	return answered
}

// If Pawl is installed twice, the client runs both hooks. One answers, and the other one takes over
// if it becomes silent.
func TestOneOfTwoInstallationsResponds(t *testing.T) {
	runWithFakeClock(t, func(d *dialogue) {
		d.env.Session.Cap = "0"
		begun := func() int {
			b, err := session.Open(d.home).Find("s1")
			if err != nil {
				t.Fatal(err)
			}
			return b.GivenTurns
		}
		turn := func(i int, names ...string) []string {
			time.Sleep(time.Duration(i%20) * time.Second) // turns are short and long
			d.answerAsInstallations(`PostToolUse {"tool_name":"Bash","tool_input":{"command":"true"}}`, names...)
			return d.answerAsInstallations(fmt.Sprintf(`Stop {"stop_hook_active":true,"last_assistant_message":"%d"}`, i), names...)
		}
		first := ""
		for i := range 22 {
			got := turn(i, "plugin", "settings")
			if len(got) != 1 || first != "" && got[0] != first || begun() != i+2 {
				t.Fatalf("stop %d was answered by %q, %d turns were given; before it was %q", i, got, begun(), first)
			}
			first = got[0]
		}
		other := map[string]string{"plugin": "settings", "settings": "plugin"}[first]
		stops := 0
		for ; len(turn(stops+10, other)) == 0; stops++ {
			if stops == 3 {
				t.Fatalf("%s is gone, and %s never took its place", first, other)
			}
		}
		if got := turn(9, "plugin", "settings"); len(got) != 1 || got[0] != other {
			t.Errorf("%q answered beside the new responder", got)
		}
	})
}
