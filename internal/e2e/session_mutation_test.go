//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// Mutation tests run beside the session: for the first task during the second, for the last one when
// the loop has ended.
func TestSessionMutationTestsRunDuringTurns(t *testing.T) {
	s := sessionsWith(t, map[string]string{
		"go.mod": "module calc\n\ngo 1.20\n", "calc.go": "package calc\n\nfunc One() int { return 1 }\n",
		"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
		"plan.md":      "- [ ] Add more operations\n- [ ] Add Neg\n", "pawl.toml": "mutation_time = \"5m\"\n",
	}, installSettings)
	function := func(name, code, test string) messagesapi.Response {
		lower := strings.ToLower(name)
		return messagesapi.Write(s.path(lower+".go"), "package calc\n\n"+code+"\n").
			And(messagesapi.Write(s.path(lower+"_test.go"), "package calc\n\nimport \"testing\"\n\nfunc Test"+name+"(t *testing.T) {\n\tif got := "+test+" {\n\t\tt.Fatal(got)\n\t}\n}\n"))
	}
	waited := messagesapi.Bash("for i in $(seq 600); do pawl report . | grep -q 'functions are tested' && break; sleep 0.1; done")
	s.playAnswers(startLoopCall("plan.md --gate 'go test ./...'",
		function("Sub", "func Sub(a, b int) int { return a - b }\n\nfunc Mul(a, b int) int { return a * b }", "Sub(3, 2); got != 1"), done,
		waited, function("Neg", "func Neg(a int) int { return -a }", "Neg(3); got != -3"), done)...)
	p := s.print("loop")
	s.checkState(state{"verified", 2}, p)
	s.eventually("table of the last task", func() bool {
		return strings.Contains(s.pawl("report", ".").out, "2: the one changed function is tested")
	})
	s.checkReport("1: 1 of 2 changed functions are tested: not Mul (sub.go:5)")
	log := s.pawl("log", ".").out
	if first, second := strings.Index(log, "1 of 2 changed functions"), strings.LastIndex(log, "verified"); first < 0 || first > second {
		t.Errorf("the first table came after the end:\n%s", log)
	}
}
