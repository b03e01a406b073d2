package verify

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// runGate runs a gate once, for at most limit.
func (v *Verifier) runGate(ctx context.Context, g gate.Gate, w runTarget, limit time.Duration) gate.Result {
	out := newOutput(w.logDir, logName(g.Name, string(w.probe)), v.redactor)
	c := commandFor(g, w.uncached || w.checkout == cleanPlace)
	var in *isolation
	if w.checkout != "" {
		v.checkout.pristine = false
		c.env = append(c.env, v.goBuildEnv(ctx, w)...)
		c.env = append(c.env, v.offlineEnv(g)...)
		var err error
		if in, err = v.isolate(ctx, &g); err != nil {
			return gate.Result{Gate: g.Name, Command: c.shown, Status: gate.Unknown, ExitCode: -1, Tree: w.tree, Reason: v.redactor.String(err.Error())}
		}
		defer in.remove()
	}
	report, stream := v.readerFor(c.report, w.root, out)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	before := v.testFileStates(ctx, g, w)
	began := time.Now()
	spec := v.spec(in, w.root, g.Dir, c)
	spec.Stdout, spec.Stderr, spec.MaxRSS = stream, out, memoryBound(w)
	exit := proc.Run(limited, spec)
	r := gate.Result{Gate: g.Name, Command: c.shown, ExitCode: exit.Code, Duration: time.Since(began), Tree: w.tree}
	r.WrittenTests = v.writtenTests(ctx, w, before)
	rep, reportErr := report(exit.Code)
	// What is said elsewhere reads as if it were said here, so that it can be compared.
	r.Tail = in.withUserPaths(strings.ReplaceAll(out.end(), w.root, v.Root))
	r.Head = in.withUserPaths(strings.ReplaceAll(out.begin(), w.root, v.Root))
	r.TimedOut = exit.Cancelled && ctx.Err() == nil
	r.Tests, r.Failing, r.FirstError = rep.Tests, rep.Failing, rep.FirstError
	r.BuildFailed, r.IncompleteGroups = rep.BuildFailed, rep.Incomplete
	r.Count()
	said := readOutput(&r, filepath.Join(w.root, filepath.FromSlash(g.Dir)))
	r.NoTestsFound, r.CannotStart = exit.Code != 0 && len(r.Tests) == 0 && said.Result == testreport.NoTests, cannotStart(exit.Code, r.Tail) != ""
	if c.report != "" && exit.Code != 0 && len(r.Tests) == 0 && len(r.IncompleteGroups) == 0 && !r.NoTestsFound {
		r.IncompleteGroups = []string{""} // no test was reported, so none counts as deleted
	}
	r.Status, r.Reason = status(exit, r, reportErr)
	if (len(v.Prefix) > 0 || w.checkout != "") && exit.Code == 1 && strings.HasPrefix(r.Tail, noSandbox) {
		r.Status, r.Reason = gate.Unknown, "it could not be confined: "+lastLine(r.Tail)
	}
	switch {
	case failsDespiteExit0(r, said):
		r.Status, r.Reason = gate.Fail, "exit 0, but "+said.Framework+" says that tests failed"+withColon(failureSummary(said))
	case r.Status == gate.Fail:
		r.Reason = reasonFor(said, r.Reason)
	case r.Status == gate.Pass && c.report == "" && said.Unsummed:
		r.Status, r.Reason = gate.Unknown, said.Doubt()
	}
	if why := v.missingTool(r); w.checkout != "" && r.Status == gate.Fail && why != "" {
		r.Status, r.Reason = gate.Unknown, why
	}
	if r.TimedOut {
		r.Reason = fmt.Sprintf("timed out after %s", limit)
		if c.report != "" { // without test ids there is no group that was cut short
			r.IncompleteGroups = []string{""}
		}
	}
	r.Head, r.Tail = v.redactor.String(r.Head), v.redactor.String(r.Tail)
	r.FirstError, r.Reason, r.Warning = v.redactor.String(r.FirstError), v.redactor.String(r.Reason), v.redactor.String(r.Warning)
	return r
}

// noSandbox begins bubblewrap's message that the command could not start.
const noSandbox = "bwrap: "

// status returns the result of a run, with the reason if it does not pass.
func status(exit proc.Exit, r gate.Result, reportErr error) (gate.Status, string) {
	switch {
	case exit.Cancelled:
		return gate.Fail, "" // at its time limit: the caller says so. Of a run that ctx ended nobody asks
	case exit.Code == -1 && exit.Signal == "":
		return gate.Unknown, fmt.Sprintf("could not start: %v", exit.Err)
	case endedFromOutside(exit):
		return gate.Unknown, "it was ended from outside (out of memory?): " + strings.TrimSpace(fmt.Sprintf("exit %d %s", exit.Code, exit.Signal))
	case r.CannotStart:
		return gate.Unknown, cannotStart(exit.Code, r.Tail) + withColon(lastLine(r.Tail))
	case exit.Code != 0 && diskFull.MatchString(r.Tail):
		return gate.Unknown, "the disk is full"
	case exit.Code == 0 && reportErr != nil:
		return gate.Unknown, reportErr.Error()
	case exit.Code == 0 && len(r.Failing) > 0:
		return gate.Fail, "exit 0, but the report names failures" + withColon(r.FirstError)
	case exit.Code == 0:
		return gate.Pass, ""
	case r.FirstError != "":
		return gate.Fail, r.FirstError
	case exit.Signal != "":
		return gate.Fail, "it crashed: " + exit.Signal
	}
	return gate.Fail, fmt.Sprintf("exit %d", exit.Code) + withColon(lastLine(r.Tail))
}

// diskFull matches errors of a full disk, in the output of a failed run.
var diskFull = regex.New(`(?im)(?:^|: )no space left on device|\bENOSPC\b`)

// endedFromOutside reports whether a signal from outside ended the run. Shells report a child's
// signal as 128 + its number. A segmentation fault is the program's own.
func endedFromOutside(exit proc.Exit) bool {
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

func withColon(s string) string {
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

// memoryBound returns the memory limit of mutants, which may grow forever: half of the free memory,
// and enough for test runners. 0 = unlimited.
func memoryBound(w runTarget) int64 {
	const enough = 2 << 30
	free := proc.FreeMemory()
	if w.probe == "" || free == 0 {
		return 0
	}
	return max(free/2, enough)
}
