package launch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// releaseForSession lets a runner continue a session's loop and release it for a session that asked for it.
func releaseForSession(t *testing.T, root string, env environment.Environment) (*store.Loop, *launch.Driver) {
	t.Helper()
	configureScriptAgent(t, env, `echo "more to come"; touch "`+root+`/turned"; sleep 20`)
	a := beginTestLoop(t, root, env, nil)
	d, err := launch.Resume(t.Context(), a.Loop, env, launch.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runWhenFileExists(t, filepath.Join(root, "turned"), func() {
		if err := a.Loop.Post("take", record.Message{Kind: record.MessageToSession}); err != nil {
			t.Error(err)
		}
	})
	st, err := d.Run(t.Context())
	if err != nil || st.Phase != loop.HandingOver {
		t.Fatalf("%s, %v", st.Phase, err)
	}
	return a.Loop, d
}

// runWhenFileExists calls do, in another goroutine, once a file exists.
func runWhenFileExists(t *testing.T, file string, do func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if _, err := os.Stat(file); err == nil {
				do()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%s does not come", file)
	}()
}

// The session that asked for a loop may be gone when the runner releases it.
func TestRunnerTakesBackLoopThatNoSessionTakes(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	l, d := releaseForSession(t, root, env)
	back, err := d.ReleaseForSession(t.Context(), env, time.Millisecond)
	if err != nil || back == nil {
		t.Fatalf("%v, %v", back, err)
	}
	configureScriptAgent(t, env, `touch "`+root+`/done.txt"; echo "<promise>DONE</promise>"`)
	st, err := back.Run(t.Context())
	if err := errors.Join(err, back.Close()); err != nil {
		t.Fatal(err)
	}
	if m := loadMemory(t, l); st.Outcome != loop.Verified || m.State.InSession {
		t.Errorf("%s %s: %s", st.Phase, st.Outcome, st.Reason)
	}
}

func TestRunnerLeavesLoopThatSessionTakes(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	l, d := releaseForSession(t, root, env)
	type end struct {
		back *launch.Driver
		err  error
	}
	ends := make(chan end, 1)
	go func() {
		back, err := d.ReleaseForSession(t.Context(), env, time.Minute)
		ends <- end{back, err}
	}()
	for _, alive, err := l.Holder(); err != nil || alive; _, alive, err = l.Holder() {
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := take(t, l, env, otherSession); err != nil {
		t.Fatal(err)
	}
	if e := <-ends; e.err != nil || e.back != nil {
		t.Errorf("%v, %v", e.back, e.err)
	}
	if m := loadMemory(t, l); !m.State.InSession || m.Bound.Session != otherSession || m.State.Handover.Failed {
		t.Errorf("bound %+v, stays %v", m.Bound, m.State.Handover.Failed)
	}
}

// The user can cancel the wait for the session.
func TestWaitForSessionCanBeCancelled(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	_, d := releaseForSession(t, root, env)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt"))
	if back, err := d.ReleaseForSession(ctx, env, time.Minute); back != nil || err == nil || err.Error() != "interrupt" {
		t.Errorf("%v, %v", back, err)
	}
}

// If two sessions take a loop at the same time, one gets it and the other an error.
func TestConcurrentTakesGiveOneOwner(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	a := beginTestLoop(t, root, env, nil)
	journalSessionClosed(t, a)
	sessions := []string{otherSession, "0d1f2a3b-0000-4000-8000-000000000003"}
	errs := make(chan error, len(sessions))
	for _, id := range sessions {
		go func() { _, err := take(t, a.Loop, env, id); errs <- err }()
	}
	refused := errors.Join(<-errs, <-errs)
	if refused == nil || !strings.Contains(refused.Error(), "runs in session 0d1f2a3b") || strings.Contains(refused.Error(), "\n") {
		t.Errorf("%v", refused)
	}
	if last, _, err := a.Loop.Holder(); err != nil || last.Epoch != 2 {
		t.Errorf("owner %+v, %v", last, err)
	}
}

// A loop that commits cannot move to a session on another branch. The user is told before the runner
// is asked.
func TestTakeOnAnotherBranchIsRefused(t *testing.T) {
	t.Parallel()
	root, env := newProject(t)
	git(t, root, "config", "user.name", "dev")
	git(t, root, "config", "user.email", "dev@example.com")
	a := beginTestLoop(t, root, env, func(q *launch.SessionRequest) { q.Commit = true })
	journalSessionClosed(t, a)
	git(t, root, "switch", "-q", "-c", "elsewhere")
	err := launch.RefuseTake(t.Context(), a.Loop, env, launch.UserSession{Session: otherSession})
	if err == nil || !strings.Contains(err.Error(), "not on the branch of the loop") {
		t.Errorf("%v", err)
	}
}
