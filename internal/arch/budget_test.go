package arch

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// budget is what the initialisation of the linked packages may allocate at each start
// of a program, in bytes. One careless dependency, four levels down, has cost others
// 25 ms and 2 MB. Bytes are the same in each run; times are the machine's, too.
type budget struct{ each, all int }

// The budgets. The hook starts at every tool call of every session.
var (
	toolBudget = budget{each: 256 << 10, all: 640 << 10}
	hookBudget = budget{each: 4 << 10, all: 16 << 10}
)

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, \S+ ms clock, (\d+) bytes`)

// initCosts reads what GODEBUG=inittrace=1 prints: each package's bytes.
func initCosts(trace string) map[string]int {
	costs := map[string]int{}
	for _, m := range initLine.FindAllStringSubmatch(trace, -1) {
		costs[m[1]], _ = strconv.Atoi(m[2])
	}
	return costs
}

// over names what costs too much.
func (b budget) over(costs map[string]int) []string {
	var faults []string
	total := 0
	for p, cost := range costs {
		total += cost
		if cost > b.each {
			faults = append(faults, fmt.Sprintf("package %s allocates %d bytes at the start; at most %d", p, cost, b.each))
		}
	}
	if total > b.all {
		faults = append(faults, fmt.Sprintf("the packages allocate %d bytes at the start; at most %d", total, b.all))
	}
	return faults
}

// testStart starts a program, and holds its packages to the budget.
func testStart(t *testing.T, b budget, program ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program[0], program[1:]...)
	cmd.Env = append(cmd.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	costs := initCosts(string(out))
	if _, ok := costs["runtime"]; !ok {
		t.Fatalf("the trace does not name the runtime: %v", costs)
	}
	report(t, b.over(costs))
}

func TestSlowStartIsFound(t *testing.T) {
	t.Parallel()
	trace := strings.Join([]string{
		"init runtime @0.13 ms, 0.19 ms clock, 174080 bytes, 0 allocs",
		"pawl: something else",
		"init github.com/mattn/go-runewidth @0.9 ms, 25.1 ms clock, 2228224 bytes, 2 allocs",
	}, "\n")
	got := strings.Join(toolBudget.over(initCosts(trace)), "\n")
	want := "package github.com/mattn/go-runewidth allocates 2228224 bytes at the start; at most 262144\n" +
		"the packages allocate 2402304 bytes at the start; at most 655360"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
