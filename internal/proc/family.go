package proc

import "strings"

// entry is one process of the machine, as the process table shows it.
type entry struct {
	pid, ppid, pgid, sid int
	start                string // tells a process from a later one with the same pid
	zombie               bool
	tags                 string // value of PAWL_PROC, "" if none or not to be seen
	marker               string // value of PAWL_LOOP
	stranger             bool   // environment readable, and not our own program: see adopted
}

// identity of a process over time.
type identity struct {
	pid   int
	start string
}

func (e entry) identity() identity { return identity{e.pid, e.start} }

// kin says whose descendants are looked for.
type kin struct {
	self, selfSID int
	leader        int    // pid, and session, of the process that was started
	leaderStart   string // "" if not known
	tag           string
	seen          map[identity]bool // descendants noticed earlier
}

// family finds the descendants of a leader, dead or alive, without the leader.
func family(table []entry, k kin) []entry {
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

func (k kin) belongs(e entry) bool {
	return e.sid == k.leader || e.pgid == k.leader ||
		hasTag(e.tags, k.tag) || k.seen[e.identity()] || k.adopted(e)
}

// adopted tells an orphan that came to us, as its subreaper or as process 1,
// from our own children: those share our session or, if this package started them, carry a
// tag (between fork and exec they still look like ourselves: no strangers).
func (k kin) adopted(e entry) bool {
	return e.ppid == k.self && e.sid != k.selfSID && e.tags == "" &&
		e.stranger && k.leaderStart != "" && !older(e.start, k.leaderStart)
}

// older compares start times that are decimal counts of ticks.
func older(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

func hasTag(tags, tag string) bool {
	for t := range strings.SplitSeq(tags, ".") {
		if t == tag && tag != "" {
			return true
		}
	}
	return false
}
