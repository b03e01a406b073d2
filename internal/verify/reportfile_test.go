//go:build unix

package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

const forged = `<testsuite><testcase classname="C" name="x"></testcase></testsuite>`

// A report that was there before the gate ran tells nothing of the run.
func TestStaleReportIsIgnored(t *testing.T) {
	t.Parallel()
	root, store := t.TempDir(), t.TempDir()
	report := filepath.Join(root, "out", "report.xml")
	future := time.Now().Add(time.Hour)
	write := func() {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(report), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(report, []byte(forged), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(report, future, future); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := filepath.Join(store, "forged.xml")
	if err := os.WriteFile(elsewhere, []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := verify.New(verify.Options{Root: root, Dir: store})
	if err != nil {
		t.Fatal(err)
	}
	run := func(command string) gate.Result {
		t.Helper()
		r, err := v.Run(t.Context(), []gate.Gate{{Name: "j", Command: command, Report: "junit:out/*.xml"}}, "")
		if err != nil {
			t.Fatal(err)
		}
		return r[0]
	}
	write()
	if r := run("true"); r.Status != gate.Unknown || len(r.Tests) > 0 || !strings.Contains(r.Reason, "no report was written") {
		t.Errorf("a runner that wrote none: %s %v %s", r.Status, r.Tests, r.Reason)
	}
	if info, err := os.Stat(report); err != nil || info.Mode().Perm() != 0o640 || !info.ModTime().Equal(future.Truncate(time.Nanosecond)) {
		t.Errorf("the file is not as it was: %v, %v", info, err)
	}
	if r := run(`printf '<testsuite><testcase classname="C" name="x"><failure/></testcase></testsuite>' > out/report.xml`); r.Status != gate.Fail || r.Tests["C.x"] != gate.Fail {
		t.Errorf("a report that names failures, exit 0: %s %v", r.Status, r.Tests)
	}
	if r := run("rm -f out/report.xml; mkfifo out/report.xml"); r.Status != gate.Unknown || !strings.Contains(r.Reason, "no report was written") {
		t.Errorf("a pipe, which would be waited for without end: %s %s", r.Status, r.Reason)
	}
	if err := os.RemoveAll(report); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, report); err != nil {
		t.Skip("no symlinks here: ", err)
	}
	if r := run("true"); r.Status != gate.Unknown || len(r.Tests) > 0 {
		t.Errorf("a link to one: %s %v", r.Status, r.Tests)
	}
	if link, err := os.Readlink(report); err != nil || link != elsewhere {
		t.Errorf("the link is not as it was: %q, %v", link, err)
	}
}
