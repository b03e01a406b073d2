package proc

import (
	"slices"
	"strings"
)

// entry is a process in the process table.
type entry struct {
	pid, ppid, pgid, sid int
	start                string // tells a process from a later one with the same pid
	zombie               bool
	kernel               bool   // a thread of the kernel
	tags                 string // value of PAWL_PROC; "": none or unreadable
	marker               string // value of PAWL_LOOP
	foreignEnv           bool   // environment readable, and not our own program, see adopted
}

// identity identifies a process over time.
type identity struct {
	pid   int
	start string
}

func (e entry) identity() identity { return identity{e.pid, e.start} }

// descent says whose descendants to find.
type descent struct {
	self, selfSID int
	leader        int    // pid, and session, of the process that was started
	leaderStart   string // "" if not known
	tag           string
	seen          map[identity]bool // descendants noticed earlier
}

// descendants returns the descendants of a leader, running or dead, without the leader.
func descendants(table []entry, k descent) []entry {
	in := map[int]bool{k.leader: true}
	for _, e := range table {
		if e.pid != k.self && e.pid != 1 && k.belongs(e) {
			in[e.pid] = true
		}
	}
	// Children of members are members; ppids form a forest, so the depth of
	// the tree bounds the rounds.
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

// belongs reports whether a process is a descendant by parent, session or tag.
func (k descent) belongs(e entry) bool {
	return e.sid == k.leader || e.pgid == k.leader ||
		hasTag(e.tags, k.tag) || k.seen[e.identity()] || k.adopted(e)
}

// adopted reports whether a child of ours is an orphan that came to us as subreaper or
// process 1. Our own children share our session or, if this package started them, have a
// tag; between fork and exec they look like ourselves.
func (k descent) adopted(e entry) bool {
	return e.ppid == k.self && e.sid != k.selfSID && e.tags == "" &&
		e.foreignEnv && k.leaderStart != "" && !older(e.start, k.leaderStart)
}

// older compares start times in clock ticks, as decimal numbers.
func older(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// hasTag reports whether dot-separated tags contain a tag.
func hasTag(tags, tag string) bool {
	return tag != "" && slices.Contains(strings.Split(tags, "."), tag)
}
