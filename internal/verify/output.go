package verify

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/gate"
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

// readOutput adds test results from the gate's output, if there is no report. It warns about a
// masked exit code and contradicting output. dir is where the gate ran. A test that is named by the
// path of its file, as node:test does if it cannot load the file, is named from the work tree's root.
func readOutput(r *gate.Result, dir, root string) testreport.Verdict {
	said := testreport.Read(testreport.Run{
		Command: r.Command, ExitCode: r.ExitCode, Output: []byte(r.Head + "\n" + r.Tail), Files: testreport.FilesIn(dir),
	})
	for i, name := range said.Failing {
		said.Failing[i] = strings.TrimPrefix(name, filepath.ToSlash(root)+"/")
	}
	if r.ExitCode == 0 && said.Masked != "" && said.Result == testreport.Fail {
		r.MasksFailures = true
		r.Warning = fmt.Sprintf("its exit code is masked by `%s`, and its output says that tests failed%s", said.Masked, withColon(failureSummary(said)))
	}
	if len(r.Tests) == 0 {
		r.Passed, r.Failed, r.MultipleRuns = said.Passed, said.Failed, said.MultipleRuns
		r.BuildFailed = r.BuildFailed || said.BuildFailed
	}
	if (r.ExitCode != 0 || failsDespiteExit0(*r, said)) && len(r.Failing) == 0 && len(r.Tests) == 0 {
		slices.Sort(said.Failing)
		r.Failing = slices.Compact(said.Failing)
		if r.FirstError == "" && (said.Result == testreport.Fail || said.BuildFailed) {
			r.FirstError = said.FirstError
		}
	}
	return said
}

// failsDespiteExit0 reports whether an unmasked exit 0 contradicts the runner's own summary of
// failed tests, without a report.
func failsDespiteExit0(r gate.Result, said testreport.Verdict) bool {
	return r.ExitCode == 0 && len(r.Tests) == 0 && said.Masked == "" && said.Result == testreport.Fail
}

// failureSummary names what failed.
func failureSummary(said testreport.Verdict) string {
	if len(said.Failing) == 0 {
		return said.FirstError
	}
	const few = 3
	names := strings.Join(said.Failing[:min(few, len(said.Failing))], ", ")
	if more := len(said.Failing) - few; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names
}

// reasonFor prefixes a failed gate's reason with its meaning for the tests.
func reasonFor(said testreport.Verdict, reason string) string {
	switch said.Result {
	case testreport.NoTests:
		return "no tests were found" + withColon(reason)
	case testreport.RunnerError:
		return "its tests could not run" + withColon(reason)
	}
	return reason
}

// ExitCodeMask names the part of a gate's command that hides the exit code of its tests, or "". root is
// the work tree.
func ExitCodeMask(g gate.Gate, root string) string {
	return strings.Join(testreport.ExitCodeMasks(g.ShellCommand(), filesOf(g, root)), ", ")
}

// HiddenOutput names the part of a gate's command that discards the tests' output, or "". A report
// makes up for it.
func HiddenOutput(g gate.Gate, root string) string {
	if g.Report != "" {
		return ""
	}
	return strings.Join(testreport.SilencingRedirections(g.ShellCommand(), filesOf(g, root)), ", ")
}

func filesOf(g gate.Gate, root string) func(string) ([]byte, error) {
	return testreport.FilesIn(filepath.Join(root, filepath.FromSlash(g.Dir)))
}
