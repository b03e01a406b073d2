package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// screenPath returns the file with the screen of the driver, as --json prints it. pawl attach shows
// it.
func screenPath(l *store.Loop) string { return filepath.Join(l.Dir, "screen.jsonl") }

// maxScreenBytes is the size at which that file is truncated.
const maxScreenBytes = 4 << 20

// screenLog is a Printer that also writes events to the loop's folder. The loop continues if that
// fails.
type screenLog struct {
	term.Printer
	redact func(string) string

	mu        sync.Mutex
	file      *os.File
	size      int64
	headLines [2][]byte // the events of the loop and the task, which begin the file
}

// keepScreen creates the screen file of a loop that this process owns.
func (a *app) keepScreen(p term.Printer, d *launch.Driver) term.Printer {
	file, err := os.OpenFile(screenPath(d.Loop), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		term.Warnf(a.Err, "pawl attach will not show this loop: %v", err)
		return p
	}
	return &screenLog{Printer: p, redact: d.Redact.String, file: file}
}

// Print prints an event and writes it to the file.
func (s *screenLog) Print(e term.Event) {
	s.Printer.Print(e)
	line, err := term.Encode(e, time.Now())
	if err == nil {
		line, err = record.Encode(json.RawMessage(line), s.redact)
	}
	if err != nil {
		return
	}
	line = append(line, '\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.(type) {
	case term.LoopStarted:
		s.headLines = [2][]byte{line}
	case term.TaskStarted:
		s.headLines[1] = line
	}
	if s.size+int64(len(line)) > maxScreenBytes && s.file.Truncate(0) == nil {
		s.size = 0
		s.write(bytes.Join(s.headLines[:], nil))
	}
	s.write(line)
}

func (s *screenLog) write(data []byte) {
	n, _ := s.file.Write(data)
	s.size += int64(n)
}

// Close also closes the file.
func (s *screenLog) Close() error {
	return errors.Join(s.file.Close(), s.Printer.Close())
}

// screenReader reads the file as it grows, and again from the start if it was truncated.
type screenReader struct {
	path       string
	offset     int64
	firstBytes []byte // the first bytes at the last read
	rest       []byte // the incomplete last line
}

const (
	firstBytesLength = 200 // number of first bytes that identify a file: they hold the time
	readLength       = 256 << 10
)

// next returns the complete lines since the last call, at most readLength bytes of them. A missing
// file has none.
func (r *screenReader) next() [][]byte {
	f, err := atomicfile.Open(r.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	began := make([]byte, firstBytesLength)
	n, _ := f.ReadAt(began, 0)
	began = began[:n]
	if !bytes.HasPrefix(began, r.firstBytes) {
		r.offset, r.rest = 0, nil
	}
	r.firstBytes = began
	data, err := io.ReadAll(io.NewSectionReader(f, r.offset, readLength))
	if err != nil {
		return nil
	}
	r.offset += int64(len(data))
	lines := bytes.Split(append(r.rest, data...), []byte("\n"))
	r.rest = bytes.Clone(lines[len(lines)-1])
	return lines[:len(lines)-1]
}
