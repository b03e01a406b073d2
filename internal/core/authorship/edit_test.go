package authorship

import (
	"testing"
	"time"
)

// What gates and hooks write over keeps its author. A change that is first seen with such a time is the
// agent's, whose tests the gates run.
func TestWhatGatesAndHooksWriteOverKeepsItsAuthor(t *testing.T) {
	t.Parallel()
	r := CallRecords{RunnerCalls: []Call{
		{At: at(0), Until: at(5), Gates: true},
		{At: at(10), Until: at(20)},
		{At: at(20), Until: at(30), Gates: true},
		{At: at(40), Until: at(50), Hooks: true},
	}}
	for _, tt := range []struct {
		name  string
		times []time.Time
		first Author // the author of a change that is first seen
		kept  Author // and of one that was known to be the user's
	}{
		{"beside all that is at work", []time.Time{at(35), at(35), at(-100)}, User, User},
		{"of a file that was made just before the loop", []time.Time{at(35), at(35), at(0).Add(-500 * time.Millisecond)}, User, User},
		{"in a call", []time.Time{at(15), at(15), at(-100)}, Agent, Agent},
		{"while gates ran", []time.Time{at(25), at(25), at(-100)}, Agent, User},
		{"while gates ran, soon after a call", []time.Time{at(20).Add(time.Millisecond), at(-100)}, Agent, User},
		{"while a hook ran", []time.Time{at(45), at(45), at(-100)}, Agent, User},
		{"a new file in its place while a hook ran", []time.Time{at(45), at(45), at(45)}, Agent, User},
		{"while gates ran, with a time of later", []time.Time{at(55), at(25), at(-100)}, Agent, User},
		{"before the loop", []time.Time{at(-5)}, Agent, Agent},
		{"times unknown", nil, Agent, Agent},
	} {
		times := r.Timeline(at(0), at(60), time.Second)
		if first, kept := times.editAuthor(tt.times, false), times.editAuthor(tt.times, true); first != tt.first || kept != tt.kept {
			t.Errorf("%s: by %s, and of the user's by %s; want %s, %s", tt.name, first, kept, tt.first, tt.kept)
		}
	}
}

// The calls count before the times, and what was the user's stays theirs while it is the same. The
// agent was at work from 10 to 20.
func TestWhoEditedATrackedFile(t *testing.T) {
	t.Parallel()
	r := CallRecords{RunnerCalls: []Call{{At: at(10), Until: at(20)}}}
	in, out := []time.Time{at(15)}, []time.Time{at(35)}
	for _, tt := range []struct {
		name string
		call Call
		edit Edit
		want Author
	}{
		{"between the calls", Call{}, Edit{Times: out}, User},
		{"in a call", Call{}, Edit{Times: in}, Agent},
		{"between the calls, written by an editing tool", edit("/w/a"), Edit{Times: out}, Agent},
		{"between the calls, named by a command", command("cat a"), Edit{Times: out}, User},
		{"of unknown time", Call{}, Edit{}, Agent},
		{"in a call, and the user's before", Call{}, Edit{Times: in, UserEdited: true, UserTimes: out}, Agent},
		{"the same as the user's", Call{}, Edit{Times: in, UserEdited: true, UserTimes: in}, User},
		{"the same, written by an editing tool", edit("/w/a"), Edit{Times: in, UserEdited: true, UserTimes: in}, Agent},
		{"deleted between the calls", Call{}, Edit{Times: out, Deleted: true}, User},
		{"deleted in a call", command("make"), Edit{Times: in, Deleted: true}, Agent},
		{"deleted before an editing tool wrote beside it", edit("/w/b"), Edit{Times: in, Deleted: true}, User},
		{"deleted, and another tool ran", Call{Tool: "mcp"}, Edit{Times: in, Deleted: true}, Agent},
		{"deleted at an unknown time", edit("/w/b"), Edit{Deleted: true}, Agent},
		{"deleted between the calls, named by a command", command("rm a"), Edit{Times: out, Deleted: true}, Agent},
		{"deleted in a call, edited by the user before", command("make"), Edit{Times: in, Deleted: true, UserEdited: true, UserTimes: in}, Agent},
		{"deleted by the user before", command("rm a"), Edit{Times: in, Deleted: true, UserDeleted: true}, User},
		{"there again in a call", Call{}, Edit{Times: in, UserDeleted: true}, Agent},
	} {
		var c Calls
		c.Add(tt.call, true)
		tt.edit.File = "/w/a"
		if got := EditAuthor(tt.edit, &c, r.Timeline(at(0), at(60), time.Second)); got != tt.want {
			t.Errorf("%s: by %s, want %s", tt.name, got, tt.want)
		}
	}
}
