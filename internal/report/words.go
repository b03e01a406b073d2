package report

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// duration is d with its two largest units: 8 s, 3 min 12 s, 6 h 41 min.
func duration(d time.Duration) string {
	d = max(0, d).Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

func money(usd float64) string { return fmt.Sprintf("$%.2f", usd) }

// tokens is a count in thousands or millions.
func tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// count is a number with its noun.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func short(commit string) string { return commit[:min(len(commit), 7)] }

// clean keeps the indentation of a line of the agent's text, and nothing that a
// terminal would act on.
func clean(line string) string {
	text := strings.TrimLeftFunc(line, unicode.IsSpace)
	indent := strings.ReplaceAll(strings.TrimRight(line[:len(line)-len(text)], "\r\n"), "\t", "    ")
	return indent + plan.OneLine(text, 0)
}
