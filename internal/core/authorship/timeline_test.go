package authorship

import (
	"testing"
	"time"
)

// If a file has a time during a call, a gate or a hook, it did not change while the loop was idle.
func TestTimelineChangedWhileIdle(t *testing.T) {
	t.Parallel()
	calls := CallRecords{RunnerCalls: []Call{{At: at(10), Until: at(20)}, {At: at(30), Until: at(40), Gates: true}}}
	timeline := calls.Timeline(at(0), at(60), 100*time.Millisecond)
	for _, tt := range []struct {
		name   string
		times  []time.Time
		byTool bool
		want   bool
	}{
		{"between call and gates", []time.Time{at(25)}, false, true},
		{"in a call", []time.Time{at(15)}, false, false},
		{"in a call that set another time", []time.Time{at(50), at(15)}, false, false},
		{"while gates ran", []time.Time{at(35)}, false, false},
		{"soon after a command", []time.Time{at(21)}, false, true},
		{"soon after an editing tool, as by a formatter", []time.Time{at(21)}, true, false},
		{"later", []time.Time{at(25)}, true, true},
		{"before the loop", []time.Time{at(-5)}, false, false},
		{"times unknown", nil, false, false},
	} {
		if got := timeline.ChangedWhileIdle(tt.times, tt.byTool); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if (Timeline{}).ChangedWhileIdle([]time.Time{at(25)}, false) {
		t.Error("idle, though nothing is known of calls")
	}
}
