//go:build unix

package tracker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/tracker"
	"github.com/pawl-dev/pawl/internal/tracker/trackertest"
)

// Each call to GitHub is interrupted in turn, before and after GitHub executed it, and the request
// is repeated. The issue is claimed once, gets one comment, and is released at the end.
func TestGitHubCallsAreInterrupted(t *testing.T) {
	t.Parallel()
	type cut struct {
		call   int // counted from 1, over a claim and an end
		obeyed bool
	}
	var cuts []cut
	for call := range 7 {
		cuts = append(cuts, cut{call + 1, false}, cut{call + 1, true})
	}
	for _, c := range agenttest.Each(cuts, 3) {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			server := trackertest.New(trackertest.Issue{Number: 12, Title: "Export"})
			server.LoseResponse(c.call, c.obeyed)
			failed := 0
			for _, r := range []tracker.Request{
				{Do: tracker.Claim, Issue: address + "12"},
				{Do: tracker.Done, Issue: address + "12", Key: "loop 1", Text: "Done.", Release: true},
			} {
				// Each attempt uses a new process, as after a kill.
				for again := true; again; {
					_, err := github(t, server).Handle(t.Context(), r)
					if again = err != nil && failed == 0; again {
						failed++
					} else if err != nil {
						t.Fatal(err)
					}
				}
				if r.Do == tracker.Claim && fmt.Sprint(server.Issue(12).Assignees) != "[ann]" {
					t.Errorf("claimed: %+v", server.Issue(12))
				}
			}
			i := server.Issue(12)
			if len(i.Comments) != 1 || !strings.HasPrefix(i.Comments[0], "Done.") || len(i.Assignees) > 0 {
				t.Errorf("at the end: %+v", i)
			}
			if failed != 1 {
				t.Errorf("%d requests failed, want 1", failed)
			}
		})
	}
}
