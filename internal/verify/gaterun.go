package verify

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/checkout"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// runGate runs a gate once, for at most limit.
func (v *Verifier) runGate(ctx context.Context, g gate.Gate, w runTarget, limit time.Duration) gate.Result {
	if !folderExists(w.root, g.Dir) {
		return gate.Result{Gate: g.Name, Command: g.ShellCommand(), Status: gate.Fail, ExitCode: 1, Tree: w.tree, Reason: "there is no folder " + g.Dir + " to run it in"}
	}
	c := commandFor(g)
	c.env = slices.Concat(c.env, v.Checkout.GoEnv())
	var in *checkout.Isolation
	if w.checkout != "" {
		c.env = slices.Concat(c.env, v.Checkout.GateEnv(ctx, g, w.checkout == cleanPlace))
		var err error
		if in, err = v.Checkout.Isolate(ctx, &g); err != nil {
			return v.unknownResult(g, w.tree, err)
		}
		defer in.Remove()
	}
	v.reachedWorkTree = v.reachedWorkTree || !in.HidesWorkTree()
	out := newOutput(w.logDir, logName(g.Name, string(w.probe)), v.redactor)
	report, stream := v.readerFor(c.report, w.root, out)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	before := v.testFileStates(ctx, g, w)
	began := time.Now()
	spec := v.Checkout.Spec(in, w.root, checkout.Command{Dir: g.Dir, Argv: c.argv, Env: c.env})
	spec.Stdout, spec.Stderr, spec.MaxRSS = stream, out, memoryBound(w)
	e := ending{confined: len(v.Prefix) > 0 || w.checkout != "", hasReport: c.report != ""}
	e.exit = proc.Run(limited, spec)
	r := gate.Result{Gate: g.Name, Command: c.shown, ExitCode: e.exit.Code, Duration: time.Since(began), Tree: w.tree, TimedOut: e.exit.Cancelled && ctx.Err() == nil}
	r.WrittenTests = v.writtenTests(ctx, w, before)
	rep, err := report(e.exit.Code)
	e.reportErr = err
	r.Tests, r.Failing, r.FirstError, r.BuildFailed, r.IncompleteGroups = rep.Tests, rep.Failing, rep.FirstError, rep.BuildFailed, rep.Incomplete
	r.Count()
	// What is said elsewhere reads as if it were said here, so that it can be compared.
	r.Tail = in.WithUserPaths(strings.ReplaceAll(out.end(), w.root, v.Root))
	r.Head = in.WithUserPaths(strings.ReplaceAll(out.begin(), w.root, v.Root))
	e.said = readOutput(&r, filepath.Join(w.root, filepath.FromSlash(g.Dir)), v.Root)
	r.NoTestsFound = len(r.Tests) == 0 && e.said.Result == testreport.NoTests
	r.CannotStart = cannotStart(e.exit.Code, r.Tail) != ""
	if w.checkout != "" {
		e.lacks = v.Checkout.MissingTool(r.Tail + "\n" + r.Head)
	}
	r.Status, r.Reason = e.outcome(r)
	if r.TimedOut {
		r.Reason = fmt.Sprintf("timed out after %s", limit)
	}
	reportsNothing := e.exit.Code != 0 && len(r.Tests) == 0 && len(r.IncompleteGroups) == 0 && !r.NoTestsFound
	if e.hasReport && (reportsNothing || r.TimedOut) {
		r.IncompleteGroups = []string{""} // all tests may be missing from this report, so none counts as deleted
	}
	for _, text := range []*string{&r.Head, &r.Tail, &r.FirstError, &r.Reason, &r.Warning} {
		*text = v.redactor.String(*text)
	}
	return r
}

// unknownResult is that of a gate that could not run.
func (v *Verifier) unknownResult(g gate.Gate, tree string, why error) gate.Result {
	return gate.Result{Gate: g.Name, Command: g.ShellCommand(), Status: gate.Unknown, ExitCode: -1, Tree: tree, Reason: v.redactor.String(why.Error())}
}

// ending is how a run ended, as far as its result does not tell.
type ending struct {
	exit      proc.Exit
	confined  bool
	hasReport bool // the report tells the tests
	reportErr error
	said      testreport.Verdict // its output
	lacks     string             // what the checkout lacks, or ""
}

// noSandbox begins bubblewrap's message that the command could not start.
const noSandbox = "bwrap: "

// outcome returns the result of a run, with the reason if it does not pass.
func (e ending) outcome(r gate.Result) (gate.Status, string) {
	passes := e.exit.Code == 0 && len(r.Failing) == 0
	switch {
	case e.confined && e.exit.Code == 1 && strings.HasPrefix(r.Tail, noSandbox):
		return gate.Unknown, "the sandbox could not start: " + testreport.FailureLine(r.Tail)
	case e.exit.Cancelled: // at its time limit. Of a run that ctx ended nobody asks
	case e.exit.Code == -1 && e.exit.Signal == "":
		return gate.Unknown, fmt.Sprintf("could not start: %v", e.exit.Err)
	case endedFromOutside(e.exit):
		return gate.Unknown, "it was killed (out of memory?): " + strings.TrimSpace(fmt.Sprintf("exit %d %s", e.exit.Code, e.exit.Signal))
	case r.CannotStart:
		return gate.Unknown, cannotStart(e.exit.Code, r.Tail) + withColon(testreport.FailureLine(r.Tail))
	case e.exit.Code != 0 && diskFull.MatchString(r.Tail):
		return gate.Unknown, gate.DiskFull
	case failsDespiteExit0(r, e.said):
	case e.exit.Code == 0 && e.reportErr != nil:
		return gate.Unknown, e.reportErr.Error()
	case passes && !e.hasReport && e.said.MissingSummary:
		return gate.Unknown, e.said.Doubt()
	case passes:
		return gate.Pass, ""
	}
	if e.lacks != "" {
		return gate.Unknown, e.lacks
	}
	return gate.Fail, e.failure(r)
}

// failure returns why a run failed.
func (e ending) failure(r gate.Result) string {
	switch {
	case failsDespiteExit0(r, e.said):
		return "exit 0, but " + e.said.Framework + " says that tests failed" + withColon(failureSummary(e.said))
	case e.exit.Code == 0:
		return reasonFor(e.said, "exit 0, but the report names failures"+withColon(r.FirstError))
	case r.FirstError != "":
		return reasonFor(e.said, r.FirstError)
	case e.exit.Signal != "":
		return reasonFor(e.said, "it crashed: "+e.exit.Signal)
	}
	how := fmt.Sprintf("exit %d", e.exit.Code)
	if r.Passed > 0 && r.Failed == 0 && len(r.Failing) == 0 {
		how += ", though no test failed"
	}
	return reasonFor(e.said, how+withColon(testreport.FailureLine(r.Head+"\n"+r.Tail)))
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

// command is how to run a gate.
type command struct {
	argv   []string
	env    []string // added to the environment
	shown  string   // as the user wrote it
	report string   // format, see gate.Gate
}

// commandFor decides how to run a gate. A plain `go test` reports test IDs.
func commandFor(g gate.Gate) command {
	text := g.ShellCommand()
	c := command{shown: text, report: g.Report}
	if runtime.GOOS == "windows" && len(g.Argv) > 0 { // no shell there reads its quotes
		c.argv = g.Argv
	}
	if c.report == "" {
		if c.report = testreport.Detect(text); c.report == "" && c.argv == nil {
			if withIDs, ok := testreport.AddGoTestJSON(text); ok {
				text, c.report = withIDs, testreport.GoJSON
			}
		}
	}
	if c.argv == nil {
		c.argv, c.env = proc.Shell(text)
	}
	return c
}
