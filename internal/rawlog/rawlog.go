// Package rawlog stores the output of an agent or a gate: its beginning and its end, without secrets,
// compressed (read it with zcat). The size of a log is limited.
package rawlog

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/redact"
)

const (
	maxHeadBytes  = 4 << 20         // bytes kept of the beginning
	maxTailBytes  = 512 << 10       // bytes kept of the end
	maxTailBuffer = 1 << 20         // bytes of memory for the end, before it is cut to maxTailBytes
	chunkBytes    = 32 << 10        // bytes that are redacted at a time; redacting takes a multiple of that in memory
	maxFileBytes  = 16 << 20        // compressed size of a file from which on a turn adds only its end
	flushInterval = 2 * time.Second // time after which output is written to disk, even without a further line
)

// Log is a file to which output is appended. Its methods may be called from several
// goroutines.
type Log struct {
	mu       sync.Mutex
	redact   *redact.Redactor
	file     *os.File
	zip      *gzip.Writer
	clean    io.WriteCloser // before zip; nil once the file cannot be written
	headRoom int            // remaining bytes for the beginning
	tail     []byte         // the newest output after the beginning
	dropped  int            // bytes between beginning and tail
	flushed  time.Time
	err      error
}

// Open appends to a file, made with mode 0600. A nil redactor keeps secrets.
func Open(path string, r *redact.Redactor) (*Log, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the log: %w", err), f.Close())
	}
	l := &Log{redact: r, file: f, flushed: time.Now()}
	if info.Size() < maxFileBytes {
		l.headRoom = maxHeadBytes
	}
	if l.zip, err = gzip.NewWriterLevel(f, gzip.BestSpeed); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	l.clean = l.redactingWriter()
	return l, nil
}

// Write never fails: an incomplete log must not stop what it records. Close returns the error.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clean == nil {
		return len(p), nil
	}
	now := p
	if len(now) > l.headRoom {
		now = now[:bytes.LastIndexAny(now[:l.headRoom], separators)+1] // no secret is divided
		l.headRoom = len(now)
	}
	l.write(now)
	if l.headRoom -= len(now); len(now) < len(p) {
		l.keepTail(p[len(now):])
		l.headRoom = 0
	}
	return len(p), nil
}

// separators are characters that no secret contains, so output may be divided at them.
const separators = " \t\r\n,;"

// write writes to the file.
func (l *Log) write(p []byte) {
	for part := range slices.Chunk(p, chunkBytes) {
		if _, err := l.clean.Write(part); err != nil {
			l.giveUp(err)
			return
		}
	}
	if now := time.Now(); now.Sub(l.flushed) > flushInterval {
		l.flushed = now
		if err := l.zip.Flush(); err != nil {
			l.giveUp(err)
		}
	}
}

// giveUp stops writing to the file after an error.
func (l *Log) giveUp(err error) {
	l.err = fmt.Errorf("write the log %s: %w", l.file.Name(), err)
	l.clean, l.tail = nil, nil
}

// keepTail keeps the last bytes in memory.
func (l *Log) keepTail(p []byte) {
	if over := len(p) - maxTailBytes; over > 0 {
		l.dropped += len(l.tail) + over
		l.tail = append(l.tail[:0], p[over:]...)
		return
	}
	if l.tail == nil {
		l.tail = make([]byte, 0, maxTailBuffer) // at once: growing would cost as much again
	}
	if len(l.tail)+len(p) > maxTailBuffer {
		over := len(l.tail) + len(p) - maxTailBytes
		l.dropped += over
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
	l.tail = append(l.tail, p...)
}

// Close writes the tail. It returns an error if not everything could be written.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	if l.clean != nil {
		if err := l.writeTail(); err != nil {
			l.giveUp(err)
		}
	}
	err := l.zip.Close()
	err = errors.Join(l.err, err, l.file.Close())
	l.file, l.clean = nil, nil
	return err
}

// writeTail writes the kept bytes.
func (l *Log) writeTail() error {
	if l.dropped > 0 {
		if err := l.clean.Close(); err != nil {
			return err
		}
		const far = 64 << 10 // a line that is longer is divided
		cut := bytes.IndexAny(l.tail[:min(len(l.tail), far)], separators) + 1
		if _, err := fmt.Fprintf(l.zip, "\n[pawl: %d bytes left out]\n", l.dropped+cut); err != nil {
			return err
		}
		l.tail, l.clean = l.tail[cut:], l.redactingWriter()
	}
	for part := range slices.Chunk(l.tail, chunkBytes) {
		if _, err := l.clean.Write(part); err != nil {
			return err
		}
	}
	l.tail = nil
	return l.clean.Close()
}

// redactingWriter returns the writer of the file, which removes secrets.
func (l *Log) redactingWriter() io.WriteCloser {
	if l.redact == nil {
		return nopCloser{l.zip}
	}
	return l.redact.Writer(l.zip)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Read returns the text of a log, up to where its writer died.
func Read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the log: %w", err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the log %s: %w", path, err)
	}
	b, err := io.ReadAll(z)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("read the log %s: %w", path, err)
	}
	return string(b), nil
}
