package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"
)

// Records returns the records after from, in order. It yields a bad line as a *CorruptError and
// continues after it. Any other error ends the iteration: ErrMarkNotFound if the file does not have from,
// ErrNewer at the record of a newer Pawl. It does not yield an incomplete last line, which may
// still be being written. A missing file has no records.
func Records(path string, from Mark) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		c := chain{path: path, last: from}
		if _, err := c.read(yield); err != nil {
			yield(Record{}, err)
		}
	}
}

// Follow is Records that then polls for new records at the interval, until ctx is done.
func Follow(ctx context.Context, path string, from Mark, every time.Duration) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		c := chain{path: path, last: from}
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			goOn, err := c.read(yield)
			if err != nil {
				yield(Record{}, err)
			}
			if err != nil || !goOn {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// Verify checks the whole chain. It returns the number of good records and the last one's mark; the
// error is the first *CorruptError, or nil.
func Verify(path string) (good int64, last Mark, err error) {
	for r, bad := range Records(path, Mark{}) {
		if bad == nil {
			good, last = good+1, r.Mark
			continue
		}
		if _, corrupt := errors.AsType[*CorruptError](bad); !corrupt {
			return good, last, bad
		}
		if err == nil {
			err = bad
		}
	}
	return good, last, err
}

// chain reads a journal, possibly in several calls, and checks each record against the previous
// one.
type chain struct {
	path     string
	last     Mark  // of the last good record
	reported int64 // corrupt lines that begin before this offset were yielded already
}

// read yields the records from c.last to the end of the file. It returns false if the consumer
// wants no more.
func (c *chain) read(yield func(Record, error) bool) (goOn bool, err error) {
	f, err := os.Open(c.path)
	if errors.Is(err, fs.ErrNotExist) && c.last == (Mark{}) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	if err := checkMark(f, c.last); err != nil {
		return false, fmt.Errorf("read journal %s: %w", c.path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("read journal: %w", err)
	}
	// A hook reads a record or two at every turn: it should not pay for a thousand.
	size := min(max(info.Size()-c.last.End, 1<<10), 64<<10)
	in := lines{r: bufio.NewReaderSize(io.NewSectionReader(f, c.last.End, 1<<62), int(size)), end: c.last.End}
	before := c.last // the line before; its Hash is "?" where it was corrupt
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("read journal %s: %w", c.path, err)
		}
		r, bad := c.check(line, in.start, before)
		if errors.Is(bad, ErrNewer) {
			return false, fmt.Errorf("read journal %s: %w", c.path, bad)
		}
		if bad != nil && in.start >= c.reported {
			c.reported = in.end
			if !yield(Record{}, bad) {
				return false, nil
			}
		}
		if r.Seq == 0 {
			before = Mark{Seq: before.Seq + 1, Hash: "?"}
			continue
		}
		before, c.last = r.Mark, r.Mark
		if !yield(r, nil) {
			return false, nil
		}
	}
}

// check decodes a line and compares it with the previous one. It returns a readable record even if
// the chain is broken there.
func (c *chain) check(line []byte, start int64, before Mark) (Record, error) {
	corrupt := func(seq int64, format string, args ...any) error {
		return &CorruptError{Path: c.path, Seq: seq, Offset: start, Reason: fmt.Sprintf(format, args...)}
	}
	if line == nil {
		return Record{}, corrupt(before.Seq+1, "the line is longer than %d bytes", MaxRecord)
	}
	r, err := decode(line, start)
	switch {
	case errors.Is(err, ErrNewer):
		return Record{}, err
	case err != nil:
		return Record{}, corrupt(before.Seq+1, "%v", err)
	case before.Hash == "?": // reported already
		return r, nil
	case r.Seq != before.Seq+1:
		return r, corrupt(before.Seq+1, "record %d follows record %d", r.Seq, before.Seq)
	case r.Prev != before.Hash:
		return r, corrupt(max(before.Seq, 1), "its hash does not match record %d", r.Seq)
	}
	return r, nil
}

// checkMark returns an error unless f still has the record of m.
func checkMark(f io.ReaderAt, m Mark) error {
	if m == (Mark{}) {
		return nil
	}
	if m.Start < 0 || m.End <= m.Start || m.End-m.Start > MaxRecord {
		return ErrMarkNotFound
	}
	line := make([]byte, m.End-m.Start)
	if _, err := f.ReadAt(line, m.Start); errors.Is(err, io.EOF) {
		return ErrMarkNotFound
	} else if err != nil {
		return err
	}
	if line[len(line)-1] != '\n' || mark(m.Seq, m.Start, line[:len(line)-1]) != m {
		return ErrMarkNotFound
	}
	return nil
}

// lines reads whole lines and tracks their offsets.
type lines struct {
	r          *bufio.Reader
	buf        []byte
	start, end int64 // of the last line, its newline included
}

// next returns the next line without its newline, valid until the next call. It returns nil for a line
// longer than MaxRecord, and io.EOF at the end, also in the middle of a line.
func (l *lines) next() ([]byte, error) {
	l.buf, l.start = l.buf[:0], l.end
	end, long := l.start, false
	for {
		part, err := l.r.ReadSlice('\n')
		end += int64(len(part))
		if long = long || end-l.start > MaxRecord; !long {
			l.buf = append(l.buf, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return nil, err
		}
		l.end = end
		if long {
			return nil, nil
		}
		return l.buf[:len(l.buf)-1], nil
	}
}
