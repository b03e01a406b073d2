package claude

import (
	"fmt"
	"os"
	"sync"
)

// logFile is where the raw stream is appended; it may move while the stream
// runs. The zero value discards.
type logFile struct {
	mu   sync.Mutex
	path string
	f    *os.File
}

// moveTo goes on in another file; "" stays.
func (l *logFile) moveTo(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if path == "" || path == l.path {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of the stream: %w", err)
	}
	l.close()
	l.path, l.f = path, f
	return nil
}

func (l *logFile) close() {
	if l.f != nil {
		_ = l.f.Close()
		l.f = nil
	}
}

func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return len(p), nil
	}
	return l.f.Write(p)
}

func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
	return nil
}
