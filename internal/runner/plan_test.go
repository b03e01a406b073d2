package runner_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

const goMod = "module example.com/greet\n\ngo 1.26\n"

func TestNewTestThatFailedBeforeProvesWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"go.mod":        goMod,
		"greet.go":      "package greet\n\nfunc Hello() string { return \"hello\" }\n",
		"greet_test.go": "package greet\n\nimport \"testing\"\n\nfunc TestHello(t *testing.T) {\n\tif Hello() != \"hello\" {\n\t\tt.Fatal(Hello())\n\t}\n}\n",
		"plan.md":       "# Plan\n\n- [ ] add Bye\n",
	})
	s := b.run(`
-- 1/files/bye.go --
package greet

func Bye() string { return "bye" }
-- 1/files/bye_test.go --
package greet

import "testing"

func TestBye(t *testing.T) {
	t.Parallel()
	if Bye() != "bye" {
		t.Fatal(Bye())
	}
}
-- 1/reply --
<promise>DONE</promise>
`, []string{"plan.md"}, map[string]any{"gates": []string{"go test ./..."}})
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat(1): add Bye" {
		t.Errorf("commits:\n%s", got)
	}
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("left over: %s", got)
	}
	if got := b.git("show", "HEAD:plan.md"); got != "# Plan\n\n- [x] add Bye" {
		t.Errorf("plan:\n%s", got)
	}
}
