package claude

import (
	"sync"

	"github.com/pawl-dev/pawl/internal/rawlog"
	"github.com/pawl-dev/pawl/internal/redact"
)

// logFile is the file to which the raw stream is appended. The path may change while the stream
// runs; without one, it discards the stream.
type logFile struct {
	redact *redact.Redactor
	mu     sync.Mutex
	path   string
	log    *rawlog.Log
}

// moveTo continues in another file; "" keeps the current one.
func (l *logFile) moveTo(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if path == "" || path == l.path {
		return nil
	}
	log, err := rawlog.Open(path, l.redact)
	if err != nil {
		return err
	}
	err = l.close()
	l.path, l.log = path, log
	return err
}

func (l *logFile) close() error {
	if l.log == nil {
		return nil
	}
	log := l.log
	l.log = nil
	return log.Close()
}

// Write never fails: the stream is read even if its log cannot be written.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log == nil {
		return len(p), nil
	}
	return l.log.Write(p)
}

// Close returns an error if not all could be written.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.close()
}
