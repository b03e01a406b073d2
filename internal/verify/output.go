package verify

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/testreport"
)

const (
	maxHead = 4 << 10 // bytes of the beginning of the output that a result keeps
	maxTail = 8 << 10 // bytes of output that a result keeps
	maxLog  = 4 << 20 // bytes that go to disk of its beginning, and as many of its end
	maxLate = 5 << 20 // bytes of memory in which the end is kept
)

// output takes what a gate prints: its beginning and its end to a file, and its
// very end to memory. Writing never fails: a full disk is no reason to stop a
// gate in the middle.
type output struct {
	mu    sync.Mutex
	file  io.WriteCloser // nil: nowhere, or no longer
	wrote int            // to the file
	late  []byte         // what did not go there: its end, and somewhat more
	lost  int            // bytes between the two
	head  []byte
	tail  []byte
	more  bool // something was dropped before tail
}

// newOutput appends to DIR/NAME.log; an empty dir keeps no file.
func newOutput(dir, name string) *output {
	o := &output{}
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return o
	}
	f, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		o.file = f
	}
	return o
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log(p)
	o.head = append(o.head, p[:min(len(p), maxHead-len(o.head))]...)
	if len(p) > maxTail {
		o.tail, o.more = append(o.tail[:0], p[len(p)-maxTail:]...), true
		return len(p), nil
	}
	o.tail = append(o.tail, p...)
	if len(o.tail) > 4*maxTail {
		o.tail, o.more = append(o.tail[:0], o.tail[len(o.tail)-maxTail:]...), true
	}
	return len(p), nil
}

func (o *output) log(p []byte) {
	if o.file == nil {
		return
	}
	room := min(len(p), maxLog-o.wrote)
	n, err := o.file.Write(p[:room])
	o.wrote += n
	if err != nil {
		o.closeFile()
		return
	}
	if room < len(p) && o.late == nil {
		o.late = make([]byte, 0, maxLate+len(p)) // at once: growing would cost as much again
	}
	o.late = append(o.late, p[room:]...)
	if len(o.late) > maxLate {
		o.dropLate()
	}
}

func (o *output) dropLate() {
	if over := len(o.late) - maxLog; over > 0 {
		o.late = append(o.late[:0], o.late[over:]...)
		o.lost += over
	}
}

// logLate writes the end, when it has come.
func (o *output) logLate() {
	o.dropLate()
	if o.lost > 0 {
		_, _ = fmt.Fprintf(o.file, "\n[pawl: %d bytes left out]\n", o.lost)
	}
	_, _ = o.file.Write(o.late) // a full disk: the result keeps its own end
	o.late = nil
}

func (o *output) closeFile() {
	_ = o.file.Close() // what is missing in a log changes no verdict
	o.file = nil
}

// end closes the file and returns the last maxTail bytes as plain text, whole
// lines where there are any.
func (o *output) end() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		o.logLate()
		o.closeFile()
	}
	tail := o.tail
	if len(tail) > maxTail {
		tail, o.more = tail[len(tail)-maxTail:], true
	}
	for len(tail) > 0 && o.more && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	s := string(tail)
	if i := strings.IndexByte(s, '\n'); o.more && i >= 0 && i+1 < len(s) {
		s = s[i+1:]
	}
	return testreport.Plain(s)
}

// begin returns the beginning of the output as plain text, whole lines where there
// are any; "" where end returns all of it. To be called after end.
func (o *output) begin() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.more {
		return ""
	}
	head := strings.ToValidUTF8(string(o.head), "")
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	return testreport.Plain(head)
}

// logName makes a gate's name fit for a file: it comes from settings or a plan,
// and may hold anything.
func logName(parts ...string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, strings.Trim(strings.Join(parts, " "), " "))
	s = strings.Trim(s, "-")
	if s == "" {
		s = "gate"
	}
	return s[:min(len(s), 80)]
}
