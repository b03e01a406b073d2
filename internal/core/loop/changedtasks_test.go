package loop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A task counts as changed if it is new or has another status, at any position.
func TestChangedTasksAreNewOrHaveAnotherStatus(t *testing.T) {
	t.Parallel()
	task := func(id string, s loop.TaskStatus) loop.Task { return loop.Task{ID: id, Status: s} }
	before := loop.State{Tasks: []loop.Task{task("1", loop.Open), task("2", loop.Open), task("3", loop.Done)}}
	after := loop.State{Tasks: []loop.Task{task("3", loop.Done), task("1", loop.Done), task("2", loop.Open), task("4", loop.Open)}}
	var ids string
	for _, c := range after.ChangedTasks(before) {
		ids += c.ID
	}
	if ids != "14" {
		t.Errorf("changed: %q", ids)
	}
	if same := before.ChangedTasks(before); same != nil {
		t.Errorf("changed: %v", same)
	}
}
