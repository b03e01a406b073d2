package verifyactive

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// How much of a command's output the agent is shown.
const (
	shownLines = 60
	shownBytes = 4000
)

// Failed is what the agent is told after check number iteration of at most most
// has failed. What the command printed is data, in a fence that it cannot close.
func Failed(r Result, iteration, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", Again(iteration, most))
	fmt.Fprintf(&b, "**Command:** %s\n", code(r.Command))
	if r.TimedOut {
		fmt.Fprintf(&b, "**Status:** Timed out after %.1fs\n", r.Duration.Seconds())
	} else {
		fmt.Fprintf(&b, "**Exit Code:** %d\n", r.ExitCode)
	}
	fmt.Fprintf(&b, "\n### Output\n\n%s\n\n", fence(output(r)))
	b.WriteString("Find the cause and fix it. The command runs again when you finish.")
	return b.String()
}

// Again is said when check number iteration of at most most (0: any number) has
// failed and work goes on.
func Again(iteration, most int) string {
	if most <= 0 {
		return fmt.Sprintf("Shell Verification FAILED (Iteration %d)", iteration)
	}
	return fmt.Sprintf("Shell Verification FAILED (Iteration %d/%d)", iteration, most)
}

// output is the failing part of what the command said, bounded.
func output(r Result) string {
	out := plan.Excerpt(r.Stdout, shownLines, shownBytes)
	if errors := plan.Excerpt(r.Stderr, shownLines, shownBytes); out == "" || errors == "" {
		out += errors
	} else {
		// Neither hides the other: a warning on stderr says nothing about the failing
		// test on stdout.
		out = plan.Excerpt(r.Stdout, shownLines/2-1, shownBytes/2-20) + "\n\n[stderr]\n" +
			plan.Excerpt(r.Stderr, shownLines/2-1, shownBytes/2-20)
	}
	if out == "" {
		return "(no output)"
	}
	return out
}

// fence sets text between lines of backticks, more than it has in a row anywhere.
func fence(text string) string {
	ticks := strings.Repeat("`", max(longestRun(text)+1, 3))
	return ticks + "\n" + text + "\n" + ticks
}

// code is a command as inline code, on one line. The full text is in the loop's
// settings; a prompt needs to know which one it was.
func code(command string) string {
	return "`" + plan.OneLine(command, 300) + "`"
}

func longestRun(text string) int {
	longest := 0
	for at := strings.IndexByte(text, '`'); at >= 0; at = strings.IndexByte(text, '`') {
		text = text[at:]
		rest := strings.TrimLeft(text, "`")
		longest = max(longest, len(text)-len(rest))
		text = rest
	}
	return longest
}

// Passed is said when the command has succeeded at check n.
func Passed(n int) string { return fmt.Sprintf("[Verify] PASSED on iteration %d!", n) }

// MaxReached is said when n checks have failed and no more are allowed.
func MaxReached(n int) string {
	return fmt.Sprintf("[Verify] Max iterations (%d) reached. Stopping.", n)
}

// Newer says why the state of a newer claude-prompts is not followed.
func Newer(path string) string {
	return path + " is the SQLite state of a newer claude-prompts, which pawl does not read; type  :: verify:\"COMMAND\"  in the session, or  pawl start --verify COMMAND"
}

// Stats says on one line what an isolated try has taken, for people.
func Stats(t loop.Try) string {
	return fmt.Sprintf("Cost $%.4f · Duration %.1fs · Tokens %s in / %s out (cache: %s) · Turns %d",
		t.Usage.CostUSD, t.Took.Seconds(), grouped(t.Usage.Input), grouped(t.Usage.Output), grouped(t.Usage.CacheRead), t.Rounds)
}

// grouped is a count with its thousands set apart: 1,234.
func grouped(n int64) string {
	digits := strconv.FormatInt(max(n, 0), 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
