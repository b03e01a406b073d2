package notify

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl/internal/core/notice"
)

// around returns quiet hours that began an hour ago and end in two hours.
func around(now time.Time) notice.Settings {
	return notice.Settings{To: []string{"webhook env:URL"}, Quiet: now.Add(-time.Hour).Format("15:04") + "-" + now.Add(2*time.Hour).Format("15:04")}
}

// One process waits for the end of quiet hours, however many notices are posted.
func TestAwaitQuietWaitsForSenders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := around(time.Now())
		end := s.QuietUntil(time.Now())
		go func() {
			if mine, err := AwaitQuietEnd(t.Context(), dir, s); !mine || err != nil || time.Now().Before(end) || time.Since(end) > time.Minute {
				t.Errorf("waited until %s of %s: %v %v", time.Now(), end, mine, err)
			}
		}()
		synctest.Wait()
		if mine, err := AwaitQuietEnd(t.Context(), dir, s); mine || err != nil {
			t.Errorf("the second: %v %v", mine, err)
		}
		time.Sleep(3 * time.Hour)
		began := time.Now()
		if mine, err := AwaitQuietEnd(t.Context(), dir, s); !mine || err != nil || time.Since(began) > 0 {
			t.Errorf("outside of them: %v %v", mine, err)
		}
	})
}

func TestAwaitQuietIsCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if mine, err := AwaitQuietEnd(ctx, dir, around(time.Now())); mine || err == nil {
			t.Errorf("%v %v", mine, err)
		}
	})
}

// In quiet hours, notices that soon become obsolete are dropped and logged. The others are stored,
// and the caller does not wait for them.
func TestAnOutboxInQuietHours(t *testing.T) {
	t.Parallel()
	o := &Outbox{Dir: t.TempDir(), Loop: "brisk-otter", Tool: []string{"/pawl"}, Settings: around(time.Now()), Start: func(*exec.Cmd) (int, error) { return 1, nil }}
	for _, e := range []notice.Event{notice.Budget, notice.NeedsYou, notice.Wait, notice.Ended} {
		o.Post(notice.Notice{Event: e, Reason: "x"})
	}
	posted := Posted(o.Dir)
	if len(posted) != 2 || !strings.Contains(posted[0], "needs_you") || !strings.Contains(posted[1], "ended") || o.started != nil {
		t.Errorf("posted %q, waits for %v", posted, o.started)
	}
	log := read(t, filepath.Join(o.Dir, LogName))
	if !strings.Contains(log, "budget x: not sent in quiet hours") || strings.Count(log, "\n") != 2 {
		t.Error(log)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
