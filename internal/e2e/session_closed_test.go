//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// Where the guard blocks, no call runs that it cannot judge: neither one that its
// hook answers with exit code 2, nor one whose hook is not there.
func TestSessionGuardBlocks(t *testing.T) {
	s := newSessions(t, ownBinaries, func(s *sessions) { s.install("--yes", "--guard-blocks") })
	hook, rules := filepath.Join(filepath.Dir(s.binary), "pawl-hook"), ""
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch r.Number {
		case 1:
			return messagesapi.Bash("pawl start 'add bye' " + words)
		case 2:
			rules = filepath.Join(s.env["PAWL_HOME"], "loops", s.status().ID, "spec.json")
			s.rename(rules, rules+".away")
			return messagesapi.Bash("touch ran.unjudged")
		case 3:
			s.rename(rules+".away", rules)
			return messagesapi.Bash("touch ran.judged")
		case 4:
			s.rename(hook, hook+".away")
			return messagesapi.Bash("touch ran.unseen")
		case 5:
			s.rename(hook+".away", hook)
			return s.answerAddingWord("bye")
		}
		return done
	})
	p := s.print("loop")
	s.checkState(state{"verified", 1}, p)
	if ran, err := filepath.Glob(s.path("ran.*")); err != nil || len(ran) != 1 || ran[0] != s.path("ran.judged") {
		t.Errorf("ran: %q, %v", ran, err)
	}
	for at, told := range map[int]string{
		2: "pawl-hook: denied: the guard could not check this tool call",
		4: `blocking because onFailure is "block"`,
	} {
		if results := s.api.Requests()[at].ToolResults(); len(results) != 1 || !results[0].Error || !strings.Contains(results[0].Text, told) {
			t.Errorf("the model was told %+v, not %q", results, told)
		}
	}
}

func (b *bench) rename(from, to string) {
	b.t.Helper()
	if err := os.Rename(from, to); err != nil {
		b.t.Error(err)
	}
}

// ownBinaries gives the project binaries that nobody else runs.
func ownBinaries(s *sessions) {
	s.t.Helper()
	dir := filepath.Join(s.home, "bin")
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(s.binary))); err != nil {
		s.t.Fatal(err)
	}
	s.binary = filepath.Join(dir, "pawl")
	s.env["PATH"] = dir + string(os.PathListSeparator) + pathWithoutPawl()
}
