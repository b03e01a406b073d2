package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/doctor"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/telemetry"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/version"
)

const (
	telemetryLedger     = "telemetry.json" // in a loop's folder: the number of runs sent
	telemetryEndTimeout = 2 * time.Second  // how long the end of a loop waits for the sender: a container may stop afterwards
)

// sendTelemetry starts a process that sends traces and metrics of an ended loop, if the environment or
// the user's configuration names a collector.
func (a *app) sendTelemetry(d *launch.Driver, s *show) {
	if !d.Spec.SendsTelemetry(a.env.Vars) {
		return
	}
	settings, err := telemetry.ReadSettings(a.env.Vars, telemetry.Collector(d.Spec.Telemetry))
	pid := 0
	if err == nil && settings.Enabled() { // a variable may turn it off
		pid, err = (&notify.Outbox{Dir: d.Loop.Dir, Loop: d.Loop.ID, Tool: []string{a.self}, Vars: a.env.Vars}).StartTelemetry()
	}
	if err != nil {
		s.note(term.Warn, fmt.Sprintf("no telemetry is sent: %v", err))
		return
	}
	for deadline := time.Now().Add(telemetryEndTimeout); proc.Alive(pid) && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
}

// telemetryFindings says for the doctor where traces and metrics are sent. It returns nothing if
// telemetry is off.
func (a *app) telemetryFindings(settings config.Settings) []doctor.Finding {
	const check = "telemetry"
	to, err := telemetry.ReadSettings(a.env.Vars, telemetry.Collector(settings.Telemetry))
	switch {
	case err != nil:
		return []doctor.Finding{{Check: check, Status: doctor.Warn, What: "no traces and metrics are sent: " + err.Error(), Fix: "set it, or leave it out"}}
	case !to.Enabled():
		return nil
	}
	return []doctor.Finding{{Check: check, Status: doctor.OK, What: "traces and metrics are sent: " + strings.Join(to.Hosts(), ", ")}}
}

// sessionTelemetryCmd is `pawl session telemetry`.
type sessionTelemetryCmd struct {
	loopID
}

// Run sends the runs of a loop that were not sent yet, and logs the result.
func (c *sessionTelemetryCmd) Run(a *app, l *store.Loop) error {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT)
	ctx, cancel := context.WithTimeout(context.Background(), telemetry.SendTimeout)
	defer cancel()
	sent, err := a.sendRuns(ctx, l)
	words := fmt.Sprintf("sent %d", sent)
	if err != nil {
		words = "not sent: " + err.Error()
	}
	return errors.Join(err, notify.LogTelemetry(l.Dir, words))
}

// sendRuns sends those runs and returns how many it sent.
func (a *app) sendRuns(ctx context.Context, l *store.Loop) (sent int, err error) {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return 0, err
	}
	settings, err := telemetry.ReadSettings(a.env.Vars, telemetry.Collector(spec.Telemetry))
	if err != nil || !settings.Enabled() {
		return 0, err
	}
	var ledger struct {
		Sent int `json:"sent"` // runs
	}
	path := filepath.Join(l.Dir, telemetryLedger)
	if err := atomicfile.ReadJSON(path, &ledger); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("read what was sent: %w", err)
	}
	of := telemetry.Loop{ID: l.ID, Agent: spec.Agent.Name, Model: spec.Agent.Model, Version: version.String(), Redact: redact.New(a.env.Vars).String}
	runs := telemetry.Runs(of, loopinfo.Events(l.Records(journal.Mark{})))
	for _, run := range runs[min(ledger.Sent, len(runs)):] {
		if err := (telemetry.Sender{Settings: settings, Loop: of}).Send(ctx, run); err != nil {
			return sent, err
		}
		sent++
		ledger.Sent++
		if err := atomicfile.WriteJSON(path, ledger); err != nil {
			return sent, fmt.Errorf("keep what was sent: %w", err)
		}
	}
	return sent, nil
}
