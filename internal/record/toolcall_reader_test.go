package record

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/store"
)

// A reader returns what RecordedCalls does, whatever is appended or lost between its reads.
func TestCallReaderFollowsFiles(t *testing.T) {
	t.Parallel()
	l, err := store.Open(t.TempDir()).Create(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var r CallReader
	check := func(when string, runnerCalls int) {
		t.Helper()
		want, err := RecordedCalls(l)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Read(l)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got.RunnerCalls) != runnerCalls {
			t.Errorf("%s: %d calls of the runner, want %d %s", when, len(got.RunnerCalls), runnerCalls, diff)
		}
	}
	add := func(path, tool string) {
		t.Helper()
		if err := AppendCall(path, authorship.Call{Tool: tool}); err != nil {
			t.Fatal(err)
		}
	}
	write := func(text string, flags int) {
		t.Helper()
		f, err := os.OpenFile(RunnerCallsPath(l), os.O_WRONLY|flags, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	check("nothing is recorded", 0)
	add(RunnerCallsPath(l), "one")
	add(ToolCallsPath(l), "one")
	check("first calls", 1)
	add(RunnerCallsPath(l), "two")
	add(StartedCallsPath(l), "one")
	check("more calls", 2)
	write(`{"tool":"th`, os.O_APPEND)
	check("half a line", 2)
	write("ree\"}\n", os.O_APPEND)
	check("the rest of it", 3)
	write("{\"tool\":\"1\"}\n", os.O_TRUNC)
	check("the end is lost", 1)
}
