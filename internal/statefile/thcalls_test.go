package statefile

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
)

// For a loop in a runner, the agent's calls are recorded elsewhere, before they run, and the files
// are read every second. What these calls write ends nothing; what is written in a later turn is
// the user's.
func TestARunnerReceivesThChanges(t *testing.T) {
	t.Parallel()
	stop := func(p *project) { p.add(thV1, "stop\n") }
	edit := func(p *project) {
		p.put(thPath, strings.Replace(p.tree()[thPath], "status: active", "status: completed", 1))
	}
	tests := []struct {
		name string
		call authorship.Call
		do   func(p *project)
		held bool
		says string // the result in a turn without such a call
	}{
		{"the channel", authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "echo stop >> temp/th-channel.md"}, stop, true, thV1 + ":4 says stop"},
		{"the status", authorship.Call{Tool: "Edit", Kind: toolcall.Edit, Path: "/p/" + thPath}, edit, false, thPath + ` has the status "completed"`},
		{"what nobody can tell, the channel", authorship.Call{AnyChange: true}, stop, true, thV1 + ":4 says stop"},
		{"what nobody can tell, the status", authorship.Call{AnyChange: true}, edit, false, thPath + ` has the status "completed"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := thProject(t)
			p.called(record.RunnerCallsFile, tt.call)
			if w := p.receive(later()); w.Stop != "" || len(w.Notes) > 0 {
				t.Fatalf("before it ran: heard %+v", w)
			}
			tt.do(p)
			if w := p.receive(later()); w.Stop != "" || w.Paused != tt.held {
				t.Fatalf("it ran: heard %+v", w)
			}
			p.ran(authorship.Call{UserTurn: true})
			if w := p.receive(later()); w.Stop != "" || w.Paused != tt.held {
				t.Fatalf("a turn of the user's earlier: heard %+v", w)
			}
			for range 2 { // this turn, and one without a call
				if err := p.loop().UpdateProgress(memoryAt(4), later()); err != nil {
					t.Fatal(err)
				}
				if w := p.receive(later()); w.Stop != "" || w.Paused {
					t.Fatalf("the next turn: heard %+v", w)
				}
			}
			p.add(thV1, "look\n")
			if tt.do(p); !strings.Contains(p.tree()[thPath], "active") == tt.held {
				t.Fatal(p.tree()[thPath])
			}
			says := strings.Replace(tt.says, ":4", ":5", 1)
			if w := p.receive(later()); w.Stop != says {
				t.Errorf("the user: heard %+v, want %s", w, says)
			}
		})
	}
}
