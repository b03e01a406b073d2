// Package figure writes durations, counts and amounts the way people read them,
// in the same form wherever a surface shows them: 3m12s, 184k, $0.92, 2 commits.
//
// Figures are for people; machines get whole numbers (see the JSON schemas in
// docs/reference). Negative values count as zero, since a clock that goes back
// is not news.
package figure

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is d as a user says it, two units at most: 8s, 3m12s, 6h41m, 2d3h.
func Duration(d time.Duration) string {
	d = max(0, d).Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// Brief is a duration that may be less than a second: 0.4s.
func Brief(d time.Duration) string {
	if d < 950*time.Millisecond {
		return fmt.Sprintf("%.1fs", max(0, d).Seconds())
	}
	return Duration(d)
}

// Chosen is a duration that somebody chose: 8h rather than 8h00m.
func Chosen(d time.Duration) string {
	s := Duration(d)
	for _, zero := range []string{"00m", "00s", "0h"} {
		if cut, ok := strings.CutSuffix(s, zero); ok && cut != "" && strings.ContainsAny(cut[len(cut)-1:], "dhm") {
			return cut
		}
	}
	return s
}

// ParseDuration reads what a user writes: as of time.ParseDuration, with days before
// it, which have 24 hours: 30d, 1d12h, 90m.
func ParseDuration(text string) (time.Duration, error) {
	var days time.Duration
	rest := text
	if number, behind, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration", text)
		}
		days, rest = time.Duration(n)*24*time.Hour, cmp.Or(behind, "0")
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 && rest != text {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	return days + d, nil
}

// Tokens is a count in three figures at most: 950, 1.2k, 184k, 2.1M.
func Tokens(n int64) string {
	if n < 1000 {
		return fmt.Sprint(max(0, n))
	}
	v := float64(n)
	for _, unit := range []string{"k", "M", "G", "T"} {
		v /= 1000
		switch {
		case v < 9.95:
			return fmt.Sprintf("%.1f%s", v, unit)
		case v < 999.5:
			return fmt.Sprintf("%.0f%s", v, unit)
		}
	}
	return fmt.Sprintf("%.0fT", v)
}

// Bytes is a size in three figures at most: 950B, 1.2kB, 184MB.
func Bytes(n int64) string { return Tokens(n) + "B" }

// Cost is an amount that was spent, all or a part of which may be unknown.
func Cost(usd float64, unknown bool) string {
	switch {
	case unknown && usd > 0:
		return "at least " + Money(usd)
	case unknown:
		return "unknown"
	}
	return Money(usd)
}

// Money is an amount in dollars; fractions of a cent are shown only where there
// is nothing else.
func Money(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", max(0, usd))
}

// Count is a number with its noun.
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Verb is the form of a verb for so many: one "fails", two "fail".
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
