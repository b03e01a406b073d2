//go:build unix

package notify

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/notice"
)

func TestACommandGetsTheNotice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := Sender{Dir: dir, Vars: []string{"PATH=" + os.Getenv("PATH")}}
	r := notice.Receiver{Kind: notice.Command, Arg: `cat > stdin; echo "$PAWL_EVENT $PAWL_REASON $PAWL_OUTCOME $PAWL_LOOP_ID $PAWL_ROOT ${PAWL_LOOP-none}" > vars`}
	if failed := s.Send(t.Context(), sample(), []notice.Receiver{r}); len(failed) > 0 {
		t.Fatal(failed)
	}
	var n notice.Notice
	data, err := os.ReadFile(filepath.Join(dir, "stdin"))
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if diff := cmp.Diff(sample(), n); diff != "" || err != nil {
		t.Error(diff, err)
	}
	vars, err := os.ReadFile(filepath.Join(dir, "vars"))
	if got := strings.TrimSpace(string(vars)); err != nil || got != "ended stuck stuck brisk-otter /repo none" {
		t.Errorf("%q %v", got, err)
	}
}

func TestACommandThatFailsIsNotRepeated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := Sender{Dir: dir, Vars: []string{"PATH=" + os.Getenv("PATH")}}
	failed := s.Send(t.Context(), sample(), []notice.Receiver{{Kind: notice.Command, Arg: "echo once >> tries; echo no phone >&2; exit 3"}})
	checkFailure(t, failed, "exit 3: no phone")
	if tries, err := os.ReadFile(filepath.Join(dir, "tries")); string(tries) != "once\n" || err != nil {
		t.Errorf("%q %v", tries, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	checkFailure(t, s.Send(ctx, sample(), []notice.Receiver{{Kind: notice.Command, Arg: "sleep 60"}}), "it did not end")
}

// The desktop's programs get title and text as arguments, whatever these contain.
func TestTheDesktopIsToldByItsOwnProgram(t *testing.T) {
	for program, want := range map[string][]string{
		"notify-send": {"--app-name=pawl", "--", sample().Title, "plan.md in repo\nUS-2 &lt;print&gt; failed &amp; stays\npawl report brisk-otter"},
		"osascript":   {sample().Title, "plan.md in repo\nUS-2 <print> failed & stays\npawl report brisk-otter"},
	} {
		t.Run(program, func(t *testing.T) {
			dir := t.TempDir()
			script := "#!/bin/sh\nfor a; do printf '%s\\0' \"$a\"; done > " + filepath.Join(dir, "args") + "\n"
			if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir)
			if failed := (Sender{}).Send(t.Context(), sample(), []notice.Receiver{{Kind: notice.Desktop}}); len(failed) > 0 {
				t.Fatal(failed)
			}
			data, err := os.ReadFile(filepath.Join(dir, "args"))
			got := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
			if diff := cmp.Diff(want, got[max(0, len(got)-len(want)):]); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	checkFailure(t, (Sender{}).Send(t.Context(), sample(), []notice.Receiver{{Kind: notice.Desktop}}), "neither notify-send nor osascript")
	if (Sender{}).Check(notice.Receiver{Kind: notice.Desktop}) == nil {
		t.Error("Check finds a desktop")
	}
}

func TestAnOutboxHandsNoticesToAProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var started [][]string
	o := &Outbox{
		Dir: dir, Loop: "brisk-otter", Tool: []string{"/pawl"}, Settings: notice.Settings{To: []string{"bell", "webhook env:URL"}, Wait: []string{"off"}, Budget: []string{"bell"}},
		Start: func(cmd *exec.Cmd) (int, error) { started = append(started, cmd.Args); return 0, nil },
	}
	for _, e := range []notice.Event{notice.Ended, notice.Wait, notice.Budget} { // these ring no bell
		n := sample()
		n.Event = e
		o.Post(n)
	}
	if len(started) != 1 || strings.Join(started[0][:4], " ") != "/pawl session notify brisk-otter" {
		t.Fatalf("started %q", started)
	}
	n, err := TakePosted(dir, started[0][4])
	if diff := cmp.Diff(sample(), n); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := TakePosted(dir, started[0][4]); err == nil {
		t.Error("a notice is sent twice")
	}
	o.Start = func(*exec.Cmd) (int, error) { return 0, errors.New("no more processes") }
	o.Post(sample())
	if log, err := os.ReadFile(filepath.Join(dir, LogName)); err != nil || !strings.Contains(string(log), "ended stuck: not sent: no more processes") {
		t.Errorf("%q %v", log, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "notice-*")); err != nil || left != nil {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestWaitIsBounded(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &Outbox{started: []int{cmd.Process.Pid}}
	began := time.Now()
	o.Wait(50 * time.Millisecond)
	if took := time.Since(began); took > 30*time.Second || o.started != nil {
		t.Errorf("waited %s, left %v", took, o.started)
	}
}
