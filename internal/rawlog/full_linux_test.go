package rawlog_test

import (
	"strings"
	"testing"
)

// A full disk stops nobody who writes; Close tells of it.
func TestLogOnAFullDisk(t *testing.T) {
	t.Parallel()
	l := open(t, "/dev/full")
	line := []byte(strings.Repeat("a line\n", 10_000))
	for range 200 {
		if n, err := l.Write(line); n != len(line) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if err := l.Close(); err == nil || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("error %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}
