package proc

import (
	"slices"
	"strings"
)

// entry is a process in the process table.
type entry struct {
	pid, ppid, pgid, sid int
	start                string // distinguishes a process from a later one with the same pid
	zombie               bool
	kernel               bool   // a thread of the kernel
	tags                 string // value of PAWL_PROC; "" = none or unreadable
	marker               string // value of PAWL_LOOP
	foreignEnv           bool   // the environment is readable, and the program is not this one; see adopted
}

// identity identifies a process over time.
type identity struct {
	pid   int
	start string
}

func (e entry) identity() identity { return identity{e.pid, e.start} }

// descendantFilter selects the descendants of a process.
type descendantFilter struct {
	self, selfSID int
	leader        int    // pid, and session, of the process that was started
	leaderStart   string // "" if unknown
	tag           string
	seen          map[identity]bool // descendants found earlier
}

// descendants returns the running and dead descendants of a leader, without the leader.
func descendants(table []entry, k descendantFilter) []entry {
	in := map[int]bool{k.leader: true}
	for _, e := range table {
		if e.pid != k.self && e.pid != 1 && k.isDescendant(e) {
			in[e.pid] = true
		}
	}
	// Children of descendants are descendants. Parents form a forest, so the loop ends after as
	// many rounds as the tree is deep.
	for grown := true; grown; {
		grown = false
		for _, e := range table {
			if !in[e.pid] && in[e.ppid] && e.pid != k.self && e.pid != 1 {
				in[e.pid], grown = true, true
			}
		}
	}
	var out []entry
	for _, e := range table {
		if in[e.pid] && e.pid != k.leader && !e.zombie {
			out = append(out, e)
		}
	}
	return out
}

// isDescendant reports whether a process is a descendant by parent, session or tag.
func (k descendantFilter) isDescendant(e entry) bool {
	return e.sid == k.leader || e.pgid == k.leader ||
		hasTag(e.tags, k.tag) || k.seen[e.identity()] || k.isAdopted(e)
}

// isAdopted reports whether a child of this process is an orphan that it adopted as subreaper or
// process 1. Its other children share its session or, if this package started them, have a tag.
// Between fork and exec they look like this process.
func (k descendantFilter) isAdopted(e entry) bool {
	return e.ppid == k.self && e.sid != k.selfSID && e.tags == "" &&
		e.foreignEnv && k.leaderStart != "" && !startedBefore(e.start, k.leaderStart)
}

// startedBefore reports whether start time a precedes b. Both are decimal numbers of clock ticks.
func startedBefore(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// hasTag reports whether dot-separated tags contain a tag.
func hasTag(tags, tag string) bool {
	return tag != "" && slices.Contains(strings.Split(tags, "."), tag)
}
