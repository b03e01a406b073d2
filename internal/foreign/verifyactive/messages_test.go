package verifyactive_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
)

func TestMessageTexts(t *testing.T) {
	t.Parallel()
	try := loop.IsolatedTurn{Took: 12345 * time.Millisecond, Rounds: 3, Usage: loop.Usage{Input: 1234, Output: 567, CacheRead: 1008901, CostUSD: 0.12341}}
	for got, want := range map[string]string{
		verifyactive.PassedMessage(4):                       "[Verify] PASSED on iteration 4!",
		verifyactive.MaxReachedMessage(5):                   "[Verify] Max iterations (5) reached. Stopping.",
		verifyactive.Stats(try):                             "Cost $0.1234 · Duration 12.3s · Tokens 1,234 in / 567 out (cache: 1,008,901) · Turns 3",
		verifyactive.NewerVersionMessage("verify-state.db"): "verify-state.db is the SQLite state of a newer claude-prompts, which pawl does not read; type  :: verify:\"COMMAND\"  in the session, or  pawl start --verify COMMAND",
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
