package runner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/verify"
)

func TestEachGateRunHasReceipt(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.run(haveAll, []string{"have every word"}, withGate(nil))
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	trees := map[string]string{} // by receipt
	var kept memory.CommittedTrees
	purposes := 0
	for r, err := range b.loop.Records(journal.Mark{}) {
		if err != nil {
			t.Fatal(err)
		}
		var rec verify.Receipt
		var e loop.Event
		switch r.Type {
		case memory.TypeReceipt:
			err = json.Unmarshal(r.Data, &rec)
			trees[rec.ID] = rec.Gated
		case memory.TypeCommittedTrees:
			err = json.Unmarshal(r.Data, &kept)
		case memory.TypeEvent:
			err = json.Unmarshal(r.Data, &e)
			if p, ok := e.Payload.(loop.GatesFinished); ok {
				purposes++
				if trees[p.Gates.Receipt] != p.Gates.Tree {
					t.Errorf("%s: receipt %q is of %q", p.Gates.Purpose, p.Gates.Receipt, trees[p.Gates.Receipt])
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if purposes != 3 {
		t.Errorf("%d runs of the gates", purposes)
	}
	if kept.Commit != s.Tasks[0].Commit || kept.Gated != trees[kept.Receipt] || kept.Committed != b.git("rev-parse", "HEAD^{tree}") {
		t.Errorf("kept: %+v", kept)
	}
	if got := strings.TrimSpace(b.git("log", "-1", "--format=%(trailers:key=Pawl-Receipt,valueonly)")); got != kept.Receipt {
		t.Errorf("trailer %q", got)
	}
}
