package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Listener is a process of this user that accepts connections.
type Listener struct {
	PID       int
	StartedAt time.Time
	Command   string
	At        string // the first address: "port 8080", "socket /tmp/x"

	env []byte
}

// HasVariable reports whether the process was started with KEY=value in its environment.
func (l Listener) HasVariable(kv string) bool {
	return bytes.Contains(append([]byte{0}, l.env...), []byte("\x00"+kv+"\x00"))
}

// IsSameProgram reports whether another process runs the same executable under the same name. The
// name tells apart the programs of one interpreter that name themselves.
func (l Listener) IsSameProgram(pid int) bool {
	path := executablePath(l.PID)
	return path != "" && path == executablePath(pid) && processName(l.PID) == processName(pid)
}

// processName returns the name that a process has given itself, else that of its program, "" if it
// cannot be read.
func processName(pid int) string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return string(name)
}

// Listeners returns the processes that accept connections and started after a time, without those
// of this program.
func Listeners(since time.Time) []Listener {
	sockets := listeningSockets()
	self, _ := os.Readlink("/proc/self/exe")
	var found []Listener
	for _, e := range readStats() {
		if e.zombie || e.kernel || e.pid == os.Getpid() {
			continue
		}
		l := Listener{PID: e.pid, StartedAt: startTime(e.pid)}
		if l.StartedAt.Before(since) || executablePath(e.pid) == self {
			continue
		}
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", e.pid)) // empty for processes of other users
		for _, link := range links {
			if socket, err := os.Readlink(link); err == nil && l.At == "" {
				l.At = sockets[socket]
			}
		}
		if l.At == "" {
			continue
		}
		l.env, _ = environOf(e.pid)
		l.Command = commandLine(e.pid)
		found = append(found, l)
	}
	return found
}

// listeningSockets returns the addresses of listening sockets, by the names of their links in
// /proc.
func listeningSockets() map[string]string {
	found := map[string]string{}
	for _, table := range []string{"tcp", "tcp6"} {
		for _, f := range netTable(table, 10) {
			if _, port, ok := strings.Cut(f[1], ":"); ok && f[3] == "0A" { // TCP_LISTEN
				n, _ := strconv.ParseUint(port, 16, 16)
				found["socket:["+f[9]+"]"] = "port " + strconv.FormatUint(n, 10)
			}
		}
	}
	for _, f := range netTable("unix", 8) { // nobody can connect to an unnamed one
		if f[3] == "00010000" { // __SO_ACCEPTCON
			found["socket:["+f[6]+"]"] = "socket " + f[7]
		}
	}
	return found
}

// netTable returns the lines of a table below /proc/net that have at least this number of fields.
func netTable(name string, fields int) (lines [][]string) {
	data, _ := os.ReadFile("/proc/net/" + name)
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) >= fields {
			lines = append(lines, f)
		}
	}
	return lines
}

// EndListener ends a process and its descendants.
func EndListener(l Listener, grace time.Duration) {
	begun := startID(l.PID)
	terminateAll(grace, begun, func(table []entry) []entry {
		victims := descendants(table, descendantFilter{self: os.Getpid(), leader: l.PID})
		for _, e := range table {
			if e.pid == l.PID && e.start == begun && !e.zombie {
				victims = append(victims, e)
			}
		}
		return victims
	})
}
