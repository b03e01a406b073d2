package prompt_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/prompt"
)

// Where the agent has tools they are named beside the promise, never in its place.
func TestToolsAreNamedWhereTheyAre(t *testing.T) {
	t.Parallel()
	for _, has := range []bool{true, false} {
		d := data()
		d.Tools = has
		text := render(t, prompt.First, d)
		for _, name := range []string{"complete_task", "report_blocked", "request_test_change"} {
			if strings.Contains(text, name) != has {
				t.Errorf("tools %t, %s named %t:\n%s", has, name, !has, text)
			}
		}
		if !strings.Contains(text, "<promise>DONE</promise>") {
			t.Error("the promise is gone")
		}
	}
}
