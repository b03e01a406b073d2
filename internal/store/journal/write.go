package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Writer appends to a journal. The loop's lock ensures that only one process has one. Its methods may
// be called from several goroutines.
type Writer struct {
	path string
	file *os.File

	mu   sync.Mutex
	last Record // the last record on disk; Seq 0 if there is none

	// What a failing disk answers; tests put their own here.
	write func([]byte) (int, error)
	sync  func() error
}

// Open opens the journal for appending and creates it if necessary. It cuts off what a crash left
// incomplete at the end.
func Open(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	w := &Writer{path: path, file: f, write: f.Write, sync: f.Sync}
	if err := w.recoverEnd(); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, errors.Join(err, f.Close()))
	}
	return w, nil
}

// Last returns the last record on disk; its Seq is 0 if there is none.
func (w *Writer) Last() Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Append writes the entries as records of the epoch. It returns the mark of the last one when they are
// on disk. After an error none of them counts as written: Append, or the next one, removes a part that
// reached the file. It returns ErrLostOwnership and writes nothing if the journal has a newer epoch.
func (w *Writer) Append(epoch int64, entries ...Entry) (Mark, error) {
	return w.lockAndAppend(epoch, entries, w.sync)
}

// AppendSoon is Append without waiting for the disk. All processes see the records, and the next Append
// or Sync writes them to the disk. A power failure before that loses them, but no earlier ones.
func (w *Writer) AppendSoon(epoch int64, entries ...Entry) (Mark, error) {
	return w.lockAndAppend(epoch, entries, func() error { return nil })
}

func (w *Writer) lockAndAppend(epoch int64, entries []Entry, sync func() error) (Mark, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.append(epoch, entries, sync); err != nil {
		return Mark{}, fmt.Errorf("append to journal %s: %w", w.path, err)
	}
	return w.last.Mark, nil
}

// Sync returns when all records are on disk.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.sync(); err != nil {
		return fmt.Errorf("append to journal %s: %w", w.path, err)
	}
	return nil
}

// CheckPath returns ErrGone if the file was moved or deleted: nobody would read its records.
func (w *Writer) CheckPath() error {
	at, err := os.Stat(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is known: the next Append tells
	}
	open, statErr := w.file.Stat()
	if statErr != nil || err == nil && os.SameFile(at, open) {
		return nil //nolint:nilerr // as above
	}
	return fmt.Errorf("%s: %w", w.path, ErrGone)
}

// Close closes the file without syncing.
func (w *Writer) Close() error { return w.file.Close() }

func (w *Writer) append(epoch int64, entries []Entry, sync func() error) error {
	info, err := w.file.Stat()
	if err != nil {
		return err
	}
	// Another process of the same owner appended, or a failed Append could not
	// be taken back.
	if info.Size() != w.last.Mark.End {
		if err := w.recoverEnd(); err != nil {
			return err
		}
	}
	return w.writeRecords(epoch, entries, sync)
}

// writeRecords writes after w.last, the end of the file.
func (w *Writer) writeRecords(epoch int64, entries []Entry, sync func() error) error {
	if w.last.Epoch > epoch {
		return ErrLostOwnership
	}
	last := w.last
	var buf bytes.Buffer
	for _, e := range entries {
		data, err := marshalData(e.Data)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Type, err)
		}
		r := Record{Seq: last.Seq + 1, At: time.Now().UTC(), Prev: last.Mark.Hash, Epoch: epoch, Version: Version, Type: e.Type, Data: data}
		line, err := encode(&r, last.Mark)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Type, err)
		}
		buf.Write(line)
		last = r
	}
	_, err := w.write(buf.Bytes())
	if err == nil {
		err = sync()
	}
	if err != nil {
		return errors.Join(err, os.Truncate(w.path, w.last.Mark.End))
	}
	w.last = last
	return nil
}

// recoverEnd finds the last record and cuts off what follows it.
func (w *Writer) recoverEnd() error {
	info, err := w.file.Stat()
	if err != nil {
		return err
	}
	last, err := lastRecord(w.file, info.Size())
	if err != nil {
		return err
	}
	w.last = last
	end := last.Mark.End
	if end == info.Size() {
		return nil
	}
	if newline, err := lastNewline(w.file, info.Size()); err != nil {
		return err
	} else if end == 0 && newline >= 0 {
		return &CorruptError{Path: w.path, Seq: 1, Reason: "it contains no record"}
	}
	kept, err := w.saveTornData(end, info.Size())
	if err != nil {
		return err
	}
	if err := os.Truncate(w.path, end); err != nil {
		return err
	}
	return w.writeRecords(last.Epoch, []Entry{{Type: TornType, Data: TornData{Bytes: info.Size() - end, File: kept}}}, w.sync)
}

// saveTornData copies the bytes from..to to a file beside the journal and returns its name.
func (w *Writer) saveTornData(from, to int64) (name string, err error) {
	var out *os.File
	for n := 0; out == nil; n++ {
		path := fmt.Sprintf("%s.torn-%d-%d", w.path, from, n)
		out, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	_, err = io.Copy(out, io.NewSectionReader(w.file, from, to-from))
	if err == nil {
		err = out.Sync()
	}
	return filepath.Base(out.Name()), errors.Join(err, out.Close())
}

// lastRecord returns the last record of f. It reads backwards from the end, so its cost does not
// depend on the length of the journal.
func lastRecord(f io.ReaderAt, size int64) (Record, error) {
	newline, err := lastNewline(f, size)
	for err == nil && newline >= 0 {
		end := newline + 1
		if newline, err = lastNewline(f, end-1); err != nil {
			break
		}
		start := newline + 1
		if end-start > MaxRecord {
			continue
		}
		line := make([]byte, end-start)
		if _, err = f.ReadAt(line, start); err != nil {
			break
		}
		r, bad := decode(line[:len(line)-1], start)
		if bad == nil || errors.Is(bad, ErrNewer) {
			return r, bad
		}
	}
	return Record{}, err
}

// lastNewline returns the offset of the last newline before end, or -1.
func lastNewline(f io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, min(end, 4<<10)) // a record, mostly
	for end > 0 {
		n := min(end, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i), nil
		}
		end -= n
	}
	return -1, nil
}
