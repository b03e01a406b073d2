package authorship

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Merged spans contain the times that any of the spans contains.
func TestSpansContainWhatOneOfThemContains(t *testing.T) {
	t.Parallel()
	for range 2000 {
		var all []Span
		for range rand.IntN(6) {
			from := rand.IntN(30)
			all = append(all, Span{at(from), at(from + rand.IntN(8))})
		}
		merged := NewSpans(all...)
		for second := range 40 {
			for _, tolerance := range []time.Duration{0, time.Second, 3 * time.Second} {
				want := slices.ContainsFunc(all, func(s Span) bool {
					return !at(second).Before(s.From.Add(-tolerance)) && !at(second).After(s.Until.Add(tolerance))
				})
				if got := merged.Contains(at(second), tolerance); got != want {
					t.Fatalf("second %d within %s of %v: %t, want %t", second, tolerance, all, got, want)
				}
			}
		}
	}
}

func TestSpanThatEndsBeforeItBeginsIsLeftOut(t *testing.T) {
	t.Parallel()
	if got := NewSpans(Span{From: at(9)}, Span{at(5), at(4)}, Span{at(1), at(2)}); !slices.Equal(got, Spans{{at(1), at(2)}}) {
		t.Errorf("%v", got)
	}
}
