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

// Records reads the records behind from, in order. A bad line is yielded as a
// *CorruptError and reading continues behind it; any other error is the last thing
// yielded: ErrMark if the file does not hold from, ErrNewer at a newer Pawl's record. A half-written last line is
// not yielded: it may just be under way. A file that is not there has no records.
func Records(path string, from Mark) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		c := chain{path: path, last: from}
		if _, err := c.read(yield); err != nil {
			yield(Record{}, err)
		}
	}
}

// Follow reads like Records, and then waits for more, looking each time the
// interval has passed, until ctx is done.
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

// Verify checks the whole chain. It tells how many records are good and where
// the last one stands; the error is the first *CorruptError, if there is any.
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

// chain reads one journal, perhaps in several goes, and checks each record
// against the one before.
type chain struct {
	path string
	last Mark  // of the last good record
	told int64 // corrupt lines that begin before this offset were yielded already
}

// read yields what stands behind c.last up to the end of the file, and tells
// whether the consumer wants more.
func (c *chain) read(yield func(Record, error) bool) (goOn bool, err error) {
	f, err := os.Open(c.path)
	if errors.Is(err, fs.ErrNotExist) && c.last == (Mark{}) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	if err := holds(f, c.last); err != nil {
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
		if bad != nil && in.start >= c.told {
			c.told = in.end
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

// check decodes a line and compares it with the line before. A record that can
// be read is returned even if the chain is broken there.
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
	case before.Hash == "?": // told already
		return r, nil
	case r.Seq != before.Seq+1:
		return r, corrupt(before.Seq+1, "record %d follows record %d", r.Seq, before.Seq)
	case r.Prev != before.Hash:
		return r, corrupt(max(before.Seq, 1), "its hash does not match record %d", r.Seq)
	}
	return r, nil
}

// holds checks that f still has the record of m.
func holds(f io.ReaderAt, m Mark) error {
	if m == (Mark{}) {
		return nil
	}
	if m.Start < 0 || m.End <= m.Start || m.End-m.Start > MaxRecord {
		return ErrMark
	}
	line := make([]byte, m.End-m.Start)
	if _, err := f.ReadAt(line, m.Start); errors.Is(err, io.EOF) {
		return ErrMark
	} else if err != nil {
		return err
	}
	if line[len(line)-1] != '\n' || mark(m.Seq, m.Start, line[:len(line)-1]) != m {
		return ErrMark
	}
	return nil
}

// lines reads whole lines and knows where they stand.
type lines struct {
	r          *bufio.Reader
	buf        []byte
	start, end int64 // of the last line, its newline included
}

// next returns the next line without its newline, valid until the following
// call; nil if it is longer than MaxRecord; io.EOF at the end, also where that is
// in the middle of a line.
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
