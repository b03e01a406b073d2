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
	maxTail = 8 << 10   // bytes of output that a result keeps
	maxLog  = 256 << 20 // bytes of output that go to disk
)

// output takes what a gate prints: all of it to a file, up to a bound, and the
// end of it to memory. Writing never fails: a full disk is no reason to stop a
// gate in the middle.
type output struct {
	mu    sync.Mutex
	file  io.WriteCloser // nil: nowhere, or no longer
	wrote int64
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
	room := min(int64(len(p)), maxLog-o.wrote)
	n, err := o.file.Write(p[:room])
	o.wrote += int64(n)
	if err == nil && int64(len(p)) > room {
		_, err = fmt.Fprintf(o.file, "\n[pawl: the output goes on; only its end is kept, with the result]\n")
		o.closeFile()
	}
	if err != nil {
		o.closeFile()
	}
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
