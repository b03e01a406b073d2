package notify

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// TelemetryLogName is the file in a loop's folder that says which traces and metrics were
// sent.
const TelemetryLogName = "telemetry.log"

// StartTelemetry starts a process that sends traces and metrics of a loop that has ended,
// and returns its id.
func (o *Outbox) StartTelemetry() (pid int, err error) { return o.start("telemetry") }

// PostTelemetry does the same. It is best effort: what goes wrong is said in the log.
func (o *Outbox) PostTelemetry() {
	if len(o.Tool) == 0 {
		return
	}
	if _, err := o.StartTelemetry(); err != nil {
		_ = LogTelemetry(o.Dir, "not sent: "+err.Error()) // there is no better place to say so
	}
}

// LogTelemetry adds a line to the log of a loop's traces and metrics.
func LogTelemetry(dir, what string) error {
	return appendLine(filepath.Join(dir, TelemetryLogName), what)
}

// appendLine adds a line that begins with the time to a log.
func appendLine(path, what string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s %s\n", time.Now().Format(time.RFC3339), what)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
