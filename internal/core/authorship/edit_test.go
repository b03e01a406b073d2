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
		if first, kept := times.EditAuthor(tt.times, false), times.EditAuthor(tt.times, true); first != tt.first || kept != tt.kept {
			t.Errorf("%s: by %s, and of the user's by %s; want %s, %s", tt.name, first, kept, tt.first, tt.kept)
		}
	}
}
