package loop

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

func TestRedNamesTestsOrGateWithoutTests(t *testing.T) {
	t.Parallel()
	g := Gates{Results: []gate.Result{
		{Gate: "lint", Status: gate.Fail},
		{Gate: "build", Status: gate.Pass},
		{Gate: "test", Status: gate.Fail, Failing: []string{"TestA", "TestB"}},
		{Gate: "again", Status: gate.Fail, Failing: []string{"TestB"}},
	}}
	if diff := cmp.Diff([]string{"lint", "TestA", "TestB"}, g.Red()); diff != "" {
		t.Error(diff)
	}
}

// Of the failing tests, a few are named, each once.
func TestUnprovenSummaryNamesTasks(t *testing.T) {
	t.Parallel()
	green, red := Task{}, Task{StillRed: []string{"TestA", "TestB"}}
	for want, tasks := range map[string][]Task{
		"all gates pass, but no test proves it":                                              {green},
		"all gates pass, but none of them runs a_test.go":                                    {{WorkResult: WorkResult{TestsNotRun: []string{"a_test.go"}}}},
		"all gates pass, and only documents and comments changed":                            {{WorkResult: WorkResult{OnlyText: true}}},
		"nothing new fails; what failed before still fails (TestA, TestB)":                   {green, red, red},
		"nothing new fails; what failed before still fails (TestA, TestB, TestC and 2 more)": {red, {StillRed: []string{"TestC", "TestD", "TestE"}}},
	} {
		if got := UnprovenSummary(tasks...); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestFlippedTestProvesItsDoneTask(t *testing.T) {
	t.Parallel()
	s := State{Tasks: []Task{
		{ID: "1", Status: Done, WorkResult: WorkResult{Flipped: []string{"TestA"}}},
		{ID: "2", Status: Skipped, WorkResult: WorkResult{Flipped: []string{"TestB"}}},
	}}
	if task, ok := s.ProvedBy("TestA"); !ok || task.ID != "1" {
		t.Errorf("TestA proves %q, %v", task.ID, ok)
	}
	for _, test := range []string{"TestB", "TestC"} {
		if task, ok := s.ProvedBy(test); ok {
			t.Errorf("%s proves %s", test, task.ID)
		}
	}
}
