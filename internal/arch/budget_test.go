package arch

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// budget is what the initialisation of the linked packages may cost at each start
// of a program. One careless dependency, four levels down, has cost others 25 ms.
type budget struct{ each, all time.Duration }

// The budgets. The hook starts at every tool call of every session.
var (
	toolBudget = budget{each: 1 * time.Millisecond, all: 4 * time.Millisecond}
	hookBudget = budget{each: 300 * time.Microsecond, all: 1 * time.Millisecond}
)

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

// initCosts reads what GODEBUG=inittrace=1 prints: each package's time.
func initCosts(trace string) map[string]time.Duration {
	costs := map[string]time.Duration{}
	for _, m := range initLine.FindAllStringSubmatch(trace, -1) {
		ms, _ := strconv.ParseFloat(m[2], 64)
		costs[m[1]] = time.Duration(ms * float64(time.Millisecond))
	}
	return costs
}

// over names what costs too much.
func (b budget) over(costs map[string]time.Duration) []string {
	var faults []string
	total := time.Duration(0)
	for p, cost := range costs {
		total += cost
		if cost > b.each {
			faults = append(faults, fmt.Sprintf("package %s takes %v to initialise; at most %v", p, cost, b.each))
		}
	}
	if total > b.all {
		faults = append(faults, fmt.Sprintf("initialisation takes %v in all; at most %v", total, b.all))
	}
	return faults
}

// testStart starts a program several times: the least that a package took is
// what it costs, the rest is the machine.
func testStart(t *testing.T, b budget, program ...string) {
	t.Helper()
	least := map[string]time.Duration{}
	for range 10 {
		cmd := exec.CommandContext(t.Context(), program[0], program[1:]...)
		cmd.Env = append(cmd.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for p, cost := range initCosts(string(out)) {
			if known, ok := least[p]; !ok || cost < known {
				least[p] = cost
			}
		}
	}
	if _, ok := least["runtime"]; !ok {
		t.Fatalf("the trace does not name the runtime: %v", least)
	}
	report(t, b.over(least))
}

func TestSlowStartIsFound(t *testing.T) {
	t.Parallel()
	trace := strings.Join([]string{
		"init runtime @0.13 ms, 0.19 ms clock, 0 bytes, 0 allocs",
		"pawl: something else",
		"init github.com/mattn/go-runewidth @0.9 ms, 25.1 ms clock, 2228224 bytes, 2 allocs",
	}, "\n")
	got := strings.Join(toolBudget.over(initCosts(trace)), "\n")
	want := "package github.com/mattn/go-runewidth takes 25.1ms to initialise; at most 1ms\n" +
		"initialisation takes 25.29ms in all; at most 4ms"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
