package store

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// The output of background processes of a loop is in its folder.
const (
	RunnerLog = "run.log"   // loopsIn a process that runs the loop
	DriverLog = "drive.log" // loopsIn a process that takes a step for a session
)

// LastError returns the error that a log of background processes ends with. It returns ""
// if it ends otherwise, or has not been written since a time.
func (l *Loop) LastError(name string, since time.Time) string {
	log, err := atomicfile.Open(filepath.Join(l.Dir, name))
	if err != nil {
		return ""
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil || info.ModTime().Before(since) { // the log is an earlier process's
		return ""
	}
	const most = 4 << 10
	data, _ := io.ReadAll(io.NewSectionReader(log, max(0, info.Size()-most), most))
	last := ""
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "pawl: hint: ") {
			last = line
		}
	}
	if words, ok := strings.CutPrefix(last, "pawl: error: "); ok {
		return strings.TrimSpace(words)
	}
	return ""
}
