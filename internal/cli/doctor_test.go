package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/doctor"
)

func TestFindingsText(t *testing.T) {
	t.Parallel()
	found := []doctor.Finding{
		{Status: doctor.OK, What: "claude 2.1.332"},
		{Status: doctor.Warn, What: "claude 9.0.0: not tested with this version yet"},
		{Status: doctor.OK, What: "hook answers in 2 ms"},
		{Status: doctor.Skipped, What: "nobody can see that"},
		{Status: doctor.OK, What: "another Stop hook can also continue the turn: \x1b[31mnpm test\x1b[0m"},
		{Status: doctor.OK, What: "no stale loop"},
		{Status: doctor.OK, What: "git 2.43.0"},
		{Status: doctor.Bad, What: "the client ends a turn after 8 blocked stops without a tool call", Fix: "pawl install claude --scope local --only-cap --yes"},
		{Status: doctor.Bad, What: "CLAUDE_CODE_SIMPLE is set: the client runs no hooks", Fix: "unset CLAUDE_CODE_SIMPLE"},
	}
	const want = ` ✓ claude 2.1.332           ✓ hook answers in 2 ms
 ✓ another Stop hook can also continue the turn: npm test                         ✓ no stale loop
 ✓ git 2.43.0
 ✗ the client ends a turn after 8 blocked stops without a tool call
     fix: pawl install claude --scope local --only-cap --yes
 ✗ CLAUDE_CODE_SIMPLE is set: the client runs no hooks    fix: unset CLAUDE_CODE_SIMPLE
 ! claude 9.0.0: not tested with this version yet
`
	if diff := cmp.Diff(want, findingsText(found, false, 110)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want+" - nobody can see that\n", findingsText(found, true, 110)); diff != "" {
		t.Error(diff)
	}
}
