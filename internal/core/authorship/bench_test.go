package authorship

import (
	"fmt"
	"testing"
	"time"
)

// manyCalls returns the records of a loop with n tool calls, of which every tenth is followed by a
// commit with hooks.
func manyCalls(n int) (r CallRecords) {
	for i := range n {
		from := at(20 * i)
		r.RunnerCalls = append(r.RunnerCalls, Call{Tool: "Bash", Command: "go test ./...", At: from}, Call{At: from, Until: from.Add(5 * time.Second)})
		if i%10 == 0 {
			r.RunnerCalls = append(r.RunnerCalls, Call{At: from.Add(7 * time.Second), Until: from.Add(8 * time.Second), Hooks: true})
		}
	}
	return r
}

func BenchmarkTimeline(b *testing.B) {
	for _, n := range []int{1000, 16000} {
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			r := manyCalls(n)
			for b.Loop() {
				r.Timeline(at(0), at(20*n), time.Second)
			}
		})
	}
}

// BenchmarkEditAuthor attributes 1,000 changed files.
func BenchmarkEditAuthor(b *testing.B) {
	for _, n := range []int{500, 4000} {
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			timeline, calls := manyCalls(n).Timeline(at(0), at(20*n), time.Second), &Calls{}
			for b.Loop() {
				for i := range 1000 {
					EditAuthor(Edit{File: "/w/a", Times: []time.Time{at(20*(i%n) + 12)}}, calls, timeline)
				}
			}
		})
	}
}
