package verify

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// defaultTimeout of a gate that sets none.
const defaultTimeout = 10 * time.Minute

// once runs a gate one time.
func (v *Verifier) once(ctx context.Context, g gate.Gate, w where) gate.Result {
	out := newOutput(w.logDir, logName(g.Name, string(w.probe)))
	c := plan(g, w.uncached)
	report, stream := v.listen(c.report, out)
	limit := g.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	exit := proc.Run(limited, proc.Spec{
		Argv: c.argv, Dir: filepath.Join(w.root, filepath.FromSlash(g.Dir)), Env: slices.Concat(v.env, c.env),
		Stdout: stream, Stderr: out, Marker: v.Marker, KeepBackground: true,
	})
	r := gate.Result{Gate: g.Name, Command: c.shown, ExitCode: exit.Code, Duration: time.Since(began), Tree: w.tree}
	rep, reportErr := report(w.root, began, exit.Code)
	r.Tail = out.end()
	r.Head = out.begin()
	r.TimedOut = exit.Cancelled && ctx.Err() == nil
	r.Tests, r.Failing, r.FirstError = rep.Tests, rep.Failing, rep.FirstError
	r.BuildFailed, r.Incomplete = rep.BuildFailed, rep.Incomplete
	r.Count()
	if len(r.Failing) == 0 && exit.Code != 0 {
		r.Failing, r.FirstError = testreport.Failing(r.Tail)
	}
	if c.report != "" && exit.Code != 0 && len(r.Tests) == 0 && len(r.Incomplete) == 0 {
		r.Incomplete = []string{""} // no test was heard: none was deleted
	}
	r.Status, r.Reason = status(exit, r, reportErr)
	if r.TimedOut {
		r.Reason = fmt.Sprintf("no end after %s", limit)
		r.Incomplete = []string{""}
	}
	r.Head, r.Tail = v.clean.String(r.Head), v.clean.String(r.Tail)
	r.FirstError, r.Reason = v.clean.String(r.FirstError), v.clean.String(r.Reason)
	return r
}

// status of a run, with the reason where it is not a pass.
func status(exit proc.Exit, r gate.Result, reportErr error) (gate.Status, string) {
	switch {
	case exit.Cancelled:
		return gate.Unknown, "" // the caller says why
	case exit.Code == -1 && exit.Signal == "":
		return gate.Unknown, fmt.Sprintf("could not start: %v", exit.Err)
	case ended(exit):
		return gate.Unknown, "it was ended from outside (out of memory?): " + strings.TrimSpace(fmt.Sprintf("exit %d %s", exit.Code, exit.Signal))
	case exit.Code == 127:
		return gate.Unknown, "a command was not found (exit 127)" + after(lastLine(r.Tail))
	case exit.Code == 126:
		return gate.Unknown, "a command could not be executed (exit 126)" + after(lastLine(r.Tail))
	case exit.Code != 0 && diskFull.MatchString(r.Tail):
		return gate.Unknown, "the disk is full"
	case exit.Code == 0 && reportErr != nil:
		return gate.Unknown, reportErr.Error()
	case exit.Code == 0 && len(r.Failing) > 0:
		return gate.Fail, "exit 0, but the report names failures" + after(r.FirstError)
	case exit.Code == 0:
		return gate.Pass, ""
	case r.FirstError != "":
		return gate.Fail, r.FirstError
	case exit.Signal != "":
		return gate.Fail, "it crashed: " + exit.Signal
	}
	return gate.Fail, fmt.Sprintf("exit %d", exit.Code) + after(lastLine(r.Tail))
}

// diskFull is what programs say last when there is no room; searched only in the
// output of a failed run.
var diskFull = regexp.MustCompile(`(?im)(?:^|: )no space left on device|\bENOSPC\b`)

// ended: by a signal that comes from outside; a shell reports that of its child
// as 128 + its number. A segmentation fault is the program's own.
func ended(exit proc.Exit) bool {
	switch exit.Signal {
	case "killed", "terminated", "hangup", "interrupt":
		return true
	}
	switch exit.Code {
	case 128 + 1, 128 + 2, 128 + 9, 128 + 15:
		return true
	}
	return false
}

func after(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func lastLine(tail string) string {
	tail = strings.TrimSpace(tail)
	line := strings.TrimSpace(tail[strings.LastIndexByte(tail, '\n')+1:])
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "") + "…"
	}
	return line
}

// listen returns the writer for a gate's standard output, and a function that
// gives the report once the gate has ended.
func (v *Verifier) listen(format string, out io.Writer) (func(root string, began time.Time, code int) (testreport.Report, error), io.Writer) {
	if path, ok := strings.CutPrefix(format, testreport.JUnit+":"); ok {
		return func(root string, began time.Time, code int) (testreport.Report, error) {
			return readJUnit(root, path, began, code)
		}, out
	}
	none := func(string, time.Time, int) (testreport.Report, error) { return testreport.Report{}, nil }
	if format == "" {
		return none, out
	}
	stream, err := testreport.NewStream(format, out)
	if err != nil {
		return func(string, time.Time, int) (testreport.Report, error) { return testreport.Report{}, err }, out
	}
	return func(string, time.Time, int) (testreport.Report, error) { return stream.Report(), nil }, stream
}

// readJUnit reads the reports that match a glob below root. After a failed run
// only fresh ones count: an old report would tell of another tree. After a
// green one a build tool may have found nothing to do, and old ones count too.
func readJUnit(root, pattern string, began time.Time, code int) (testreport.Report, error) {
	var all testreport.Report
	paths, err := doublestar.FilepathGlob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil {
		return all, fmt.Errorf("read junit report %s: %w", pattern, err)
	}
	read := 0
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || code != 0 && info.ModTime().Before(began.Add(-time.Second)) {
			continue
		}
		rep, err := readReport(path)
		if err != nil {
			return all, err
		}
		all.Merge(rep)
		read++
	}
	if read == 0 {
		return all, fmt.Errorf("no report was written to %s", pattern)
	}
	return all, nil
}

func readReport(path string) (testreport.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return testreport.Report{}, fmt.Errorf("read junit report: %w", err)
	}
	defer f.Close()
	return testreport.Parse(testreport.JUnit, f)
}
