package verify

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/rawlog"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/testreport"
)

const (
	maxHead = 4 << 10 // bytes of the beginning of the output that a result keeps
	maxTail = 8 << 10 // bytes of output that a result keeps
)

// output writes a gate's output to a log and keeps its beginning and end. Write never fails: a full
// disk must not stop a gate.
type output struct {
	mu   sync.Mutex
	log  *rawlog.Log // nil: nowhere
	head []byte
	tail []byte
	all  int  // bytes that were printed
	more bool // something was dropped before tail
}

// newOutput appends to DIR/NAME.log.gz, without secrets. An empty dir keeps no file.
func newOutput(dir, name string, r *redact.Redactor) *output {
	o := &output{}
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return o
	}
	if log, err := rawlog.Open(filepath.Join(dir, name+".log.gz"), r); err == nil {
		o.log = log
	}
	return o
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.log != nil {
		_, _ = o.log.Write(p) // it never fails
	}
	o.all += len(p)
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

// end closes the log and returns the last maxTail bytes as plain text, in whole lines if possible.
func (o *output) end() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.log != nil {
		_ = o.log.Close() // an incomplete log changes no verdict
		o.log = nil
	}
	tail := o.tail
	if len(tail) > maxTail {
		tail, o.more = tail[len(tail)-maxTail:], true
	}
	for len(tail) > 0 && o.more && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	if i := bytes.IndexByte(tail, '\n'); o.more && i >= 0 && i+1 < len(tail) {
		tail = tail[i+1:]
	}
	o.tail = tail
	return testreport.Plain(string(tail))
}

// begin returns the beginning as plain text, in whole lines, up to where end's text begins: no line
// is in both. It is "" if end returned everything. Call it after end.
func (o *output) begin() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.more {
		return ""
	}
	head := strings.ToValidUTF8(string(o.head[:min(len(o.head), o.all-min(o.all, len(o.tail)))]), "")
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	return testreport.Plain(head)
}

// maxLogName bounds a log's name, in bytes.
const maxLogName = 80

// logName makes a file name of a gate's name, which may contain anything, and of a run's purpose.
func logName(gateName, probe string) string {
	name := fileName(gateName)
	if name == "" {
		name = "gate"
	}
	if probe = fileName(probe); probe != "" {
		probe = "-" + probe
	}
	return name[:min(len(name), maxLogName-len(probe))] + probe
}

// fileName keeps what file names may contain anywhere.
func fileName(text string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, text), "-")
}
