//go:build unix

package proc

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// group is a leader and its descendants.
type group struct {
	leader int
	start  string

	mu   sync.Mutex
	seen map[identity]bool
}

func startGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = KillWithParent(syscall.SysProcAttr{Setsid: true})
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	return &group{leader: pid, start: startID(pid), seen: map[identity]bool{}}, nil
}

func (g *group) terminate() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }

func (g *group) kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

func (g *group) release(keepBackground bool) {}

// recordDescendants stores the descendants while their parents are known. Afterwards only
// the tag identifies them.
func (g *group) recordDescendants() {
	for _, e := range g.descendants(readTable(g.start), "") {
		g.mu.Lock()
		g.seen[e.identity()] = true
		g.mu.Unlock()
	}
}

func (g *group) descendants(table []entry, tag string) []entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	self := os.Getpid()
	k := descendantFilter{
		self: self, selfSID: sessionID(self), leader: g.leader, leaderStart: g.start,
		tag: tag, seen: g.seen,
	}
	return descendants(table, k)
}

// sessionPIDs returns the descendants in the leader's session.
func (g *group) sessionPIDs() []int {
	var pids []int
	for _, e := range g.descendants(readTable(g.start), "") {
		if e.sid == g.leader {
			pids = append(pids, e.pid)
		}
	}
	return pids
}

// bubblewrap is the program that confines a command. Its helper is the first process in the
// command's namespace, and ends a moment after it has reported the command's end.
const bubblewrap = "bwrap"

// sweep ends the descendants and returns how many there were, not counting bubblewrap's.
func (g *group) sweep(o sweepOptions) int {
	own := map[identity]bool{}
	killed, table := terminateAll(o.grace, g.start, func(table []entry) []entry {
		var victims []entry
		for _, e := range g.descendants(table, o.tag) {
			isInside := e.sid == g.leader || e.pgid == g.leader
			if o.scope == allDescendants || isInside == (o.scope == inLeaderSession) {
				victims = append(victims, e)
				if e.sid == g.leader && hasName(e.pid, bubblewrap) {
					own[e.identity()] = true
				}
			}
		}
		return victims
	})
	reapOrphans(deadOrphans(table))
	return max(0, killed-len(own))
}

// terminateAll sends TERM to the processes that find returns, KILL after the grace time,
// and repeats until there are none, since a dying process may have started another. It
// returns how many there were, and the last table; see readTable for since.
func terminateAll(grace time.Duration, since string, find func(table []entry) []entry) (int, []entry) {
	asked := map[identity]bool{}
	begin := time.Now()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		table := readTable(since)
		victims := addDying(table, find(table), asked)
		waited := time.Since(begin)
		if len(victims) == 0 || waited > grace+killTimeout {
			return len(asked), table
		}
		for _, e := range victims {
			if waited > grace {
				_ = syscall.Kill(e.pid, syscall.SIGKILL)
			} else if !asked[e.identity()] {
				_ = syscall.Kill(e.pid, syscall.SIGTERM)
				_ = syscall.Kill(e.pid, syscall.SIGCONT) // a stopped process does not handle TERM
			}
			asked[e.identity()] = true
		}
		time.Sleep(pause)
		reap(victims)
	}
}

// addDying adds processes that got a signal and have not ended yet. Linux releases the environment
// of a dying process first, and with it the tag, then its memory, and its sockets last (do_exit in
// kernel/exit.c). A gate may need the port.
func addDying(table, victims []entry, asked map[identity]bool) []entry {
	for _, e := range table {
		if asked[e.identity()] && !e.zombie && !slices.Contains(victims, e) {
			victims = append(victims, e)
		}
	}
	return victims
}

// SweepMarked ends every process with the marker and its descendants, which a killed Pawl left
// running. It spares the caller and its ancestors. It returns how many there were. It finds none if
// the environment of processes cannot be read (macOS).
func SweepMarked(marker string, grace time.Duration) int {
	if marker == "" {
		return 0
	}
	killed, _ := terminateAll(grace, "", func(table []entry) []entry { return withMarker(table, marker) })
	return killed
}

// Orphans lists the processes with the marker as "PID COMMAND", and, if this process is
// the subreaper, orphans that cleared their environment.
func Orphans(marker string) []string {
	if marker == "" {
		return nil
	}
	table := readTable("")
	self := os.Getpid()
	orphans := descendantFilter{self: self, selfSID: sessionID(self), leader: -1, leaderStart: startID(self)}
	left := withMarker(table, marker)
	for _, e := range table {
		if !e.zombie && orphans.isAdopted(e) && !slices.Contains(left, e) {
			left = append(left, e)
		}
	}
	found := make([]string, len(left))
	for i, e := range left {
		found[i] = strings.TrimSpace(strconv.Itoa(e.pid) + " " + commandLine(e.pid))
	}
	return found
}

// AllMarked reports whether a program runs and all its processes have the marker, or
// descend from one that has. It returns false if that is unknown.
func AllMarked(marker, program string) bool {
	table := readTable("")
	ours := withMarker(table, marker)
	some := false
	for _, e := range table {
		if e.zombie || !hasName(e.pid, program) {
			continue
		}
		if some = true; !slices.Contains(ours, e) {
			return false
		}
	}
	return some && marker != ""
}

// AllStartedWhen reports whether a program runs and all its processes started at a time
// for which holds returns true, or descend from such a process. It returns false if that
// is unknown.
func AllStartedWhen(program string, holds func(time.Time) bool) bool {
	table := readStats()
	runs := slices.DeleteFunc(slices.Clone(table), func(e entry) bool { return e.zombie || !hasName(e.pid, program) })
	ours := map[int]bool{}
	for _, e := range runs {
		began := startTime(e.pid)
		ours[e.pid] = !began.IsZero() && holds(began)
	}
	for _, e := range runs {
		above := false
		for pid := range ancestors(table, e.pid) {
			above = above || ours[pid]
		}
		if !above {
			return false
		}
	}
	return len(runs) > 0
}

// withMarker returns the processes with a marker and their descendants, without the caller
// and its ancestors.
func withMarker(table []entry, marker string) []entry {
	self := os.Getpid()
	k := descendantFilter{self: self, leader: -1, seen: map[identity]bool{}}
	spared := ancestors(table, self)
	for _, e := range table {
		if e.marker == marker && !spared[e.pid] {
			k.seen[e.identity()] = true
		}
	}
	return slices.DeleteFunc(descendants(table, k), func(e entry) bool { return spared[e.pid] })
}

// ancestors returns a process and its ancestors.
func ancestors(table []entry, pid int) map[int]bool {
	parent := map[int]int{}
	for _, e := range table {
		parent[e.pid] = e.ppid
	}
	set := map[int]bool{}
	for ; pid > 0 && !set[pid]; pid = parent[pid] {
		set[pid] = true
	}
	return set
}

// reap collects processes that became our children.
func reap(entries []entry) {
	for _, e := range entries {
		if e.ppid == os.Getpid() {
			_, _ = syscall.Wait4(e.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// orphanAge is how long a dead leader of a session must be uncollected to count as an adopted
// orphan. The wait for a process of this package blocks in the kernel and collects it at once. On a
// loaded machine that has taken a quarter of a second.
const orphanAge = time.Second

// reapOrphans collects adopted orphans that have exited. It spares leaders of sessions that exited
// just now, because this package may be waiting for them.
func reapOrphans(dead []entry) {
	leaders := map[identity]bool{}
	for _, e := range dead {
		if e.sid == e.pid {
			leaders[e.identity()] = true
		} else {
			reap([]entry{e})
		}
	}
	for begin := time.Now(); len(leaders) > 0; time.Sleep(20 * time.Millisecond) {
		left := slices.DeleteFunc(deadOrphans(readStats()), func(e entry) bool { return !leaders[e.identity()] })
		if time.Since(begin) >= orphanAge {
			reap(left)
			return
		}
		clear(leaders)
		for _, e := range left {
			leaders[e.identity()] = true
		}
	}
}

// deadOrphans returns the dead children that are in another session than this process.
func deadOrphans(table []entry) []entry {
	self := os.Getpid()
	sid := sessionID(self)
	return slices.DeleteFunc(table, func(e entry) bool { return !e.zombie || e.ppid != self || e.sid == sid })
}

func signalName(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}
