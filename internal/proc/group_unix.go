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

// group is a leader and its descendants. The leader has its own session, so
// that no terminal signal reaches it and kill(-pid) reaches what stayed inside.
type group struct {
	leader int
	start  string

	mu   sync.Mutex
	seen map[identity]bool
}

func startGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = DyingWithParent(syscall.SysProcAttr{Setsid: true})
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	return &group{leader: pid, start: startOf(pid), seen: map[identity]bool{}}, nil
}

func (g *group) terminate() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }

func (g *group) kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

func (g *group) release(keepBackground bool) {}

// remember notes the descendants while ancestry still shows them: when their
// parents are gone, nothing but the tag does.
func (g *group) remember() {
	for _, e := range g.family(readTable(), "") {
		g.mu.Lock()
		g.seen[e.identity()] = true
		g.mu.Unlock()
	}
}

func (g *group) family(table []entry, tag string) []entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	self := os.Getpid()
	k := kin{
		self: self, selfSID: sidOf(self), leader: g.leader, leaderStart: g.start,
		tag: tag, seen: g.seen,
	}
	return family(table, k)
}

// insiders are the descendants in the leader's session.
func (g *group) insiders() []int {
	var pids []int
	for _, e := range g.family(readTable(), "") {
		if e.sid == g.leader {
			pids = append(pids, e.pid)
		}
	}
	return pids
}

// sweep ends the descendants and returns how many there were.
func (g *group) sweep(o sweepOptions) int {
	killed := endAll(o.grace, func(table []entry) []entry {
		var victims []entry
		for _, e := range g.family(table, o.tag) {
			isInside := e.sid == g.leader || e.pgid == g.leader
			if o.scope == everything || isInside == (o.scope == inside) {
				victims = append(victims, e)
			}
		}
		return victims
	})
	reapStrays()
	return killed
}

// endAll sends TERM to what find finds in the process table, KILL after the
// grace, and looks again until nothing is left: a dying process may have started
// another.
func endAll(grace time.Duration, find func(table []entry) []entry) int {
	asked := map[identity]bool{}
	begin := time.Now()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		table := readTable()
		victims := withDying(table, find(table), asked)
		waited := time.Since(begin)
		if len(victims) == 0 || waited > grace+killPatience {
			return len(asked)
		}
		for _, e := range victims {
			if waited > grace {
				_ = syscall.Kill(e.pid, syscall.SIGKILL)
			} else if !asked[e.identity()] {
				_ = syscall.Kill(e.pid, syscall.SIGTERM)
				_ = syscall.Kill(e.pid, syscall.SIGCONT) // a stopped process takes no TERM
			}
			asked[e.identity()] = true
		}
		time.Sleep(pause)
		reap(victims)
	}
}

// withDying adds those of the processes that were asked to end and have not yet.
// Linux takes the environment of a dying process first, and with it the tag that
// it is found by, then its memory, which may be much, and its sockets last
// (do_exit in kernel/exit.c): a gate may want the port.
func withDying(table, victims []entry, asked map[identity]bool) []entry {
	for _, e := range table {
		if asked[e.identity()] && !e.zombie && !slices.Contains(victims, e) {
			victims = append(victims, e)
		}
	}
	return victims
}

// SweepMarked ends every process of the machine, and its descendants, that
// carries the marker: what a Pawl that was killed has left behind. The caller
// and the processes above it are spared. It returns how many there were; it
// finds none where the environment of processes cannot be read (macOS).
func SweepMarked(marker string, grace time.Duration) int {
	if marker == "" {
		return 0
	}
	return endAll(grace, func(table []entry) []entry { return marked(table, marker) })
}

// LeftBy are the processes with the marker and, where this process is the reaper of
// orphans (see Subreaper), those that came to it though they cleared their
// environment, as "PID COMMAND".
func LeftBy(marker string) []string {
	if marker == "" {
		return nil
	}
	table := readTable()
	self := os.Getpid()
	orphans := kin{self: self, selfSID: sidOf(self), leader: -1, leaderStart: startOf(self)}
	left := marked(table, marker)
	for _, e := range table {
		if !e.zombie && orphans.adopted(e) && !slices.Contains(left, e) {
			left = append(left, e)
		}
	}
	found := make([]string, len(left))
	for i, e := range left {
		found[i] = strings.TrimSpace(strconv.Itoa(e.pid) + " " + commandOf(e.pid))
	}
	return found
}

// OnlyMarked reports whether all processes of a program, and there are some, carry the
// marker or descend from one that does. It is false where that cannot be seen.
func OnlyMarked(marker, program string) bool {
	table := readTable()
	ours := marked(table, marker)
	some := false
	for _, e := range table {
		if e.zombie || !runs(e.pid, program) {
			continue
		}
		if some = true; !slices.Contains(ours, e) {
			return false
		}
	}
	return some && marker != ""
}

// OnlyBegan reports whether all processes of a program, and there are some, began at a
// time that holds, or descend from one of that program which did. It is false where that
// cannot be seen.
func OnlyBegan(program string, holds func(time.Time) bool) bool {
	table := readTable()
	runs := slices.DeleteFunc(slices.Clone(table), func(e entry) bool { return e.zombie || !runs(e.pid, program) })
	ours := map[int]bool{}
	for _, e := range runs {
		began := beganAt(e.pid)
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

// marked are the processes with a marker, and their descendants, but for the caller
// and those above it.
func marked(table []entry, marker string) []entry {
	self := os.Getpid()
	k := kin{self: self, leader: -1, seen: map[identity]bool{}}
	spared := ancestors(table, self)
	for _, e := range table {
		if e.marker == marker && !spared[e.pid] {
			k.seen[e.identity()] = true
		}
	}
	return slices.DeleteFunc(family(table, k), func(e entry) bool { return spared[e.pid] })
}

// ancestors of a process, and the process itself.
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

// reap collects those of the processes that became our children.
func reap(entries []entry) {
	for _, e := range entries {
		if e.ppid == os.Getpid() {
			_, _ = syscall.Wait4(e.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// strayAge is how long a dead child of ours must have gone uncollected to be
// taken for an adopted orphan. The wait for a process of our own is parked in
// the kernel and collects it at once.
const strayAge = 250 * time.Millisecond

// reapStrays collects orphans that we adopted and that ended by themselves.
func reapStrays() {
	strays := zombies()
	if len(strays) == 0 {
		return
	}
	time.Sleep(strayAge)
	still := zombies()
	for id := range strays {
		if still[id] {
			_, _ = syscall.Wait4(id.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

func zombies() map[identity]bool {
	self := os.Getpid()
	sid := sidOf(self)
	set := map[identity]bool{}
	for _, e := range readTable() {
		if e.zombie && e.ppid == self && e.sid != sid {
			set[e.identity()] = true
		}
	}
	return set
}

func signalName(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}
