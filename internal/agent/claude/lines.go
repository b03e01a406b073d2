package claude

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// maxLine is the longest line that is decoded. What the model says or calls is
// far below it; only the results of tools (pictures, whole files) grow larger,
// and of those nothing is needed.
const maxLine = 8 << 20

// keepBuffer is how much of a line buffer is kept for the next line.
const keepBuffer = 1 << 20

// item is a decoded line, or a note on one that could not be decoded.
type item struct {
	line line
	note string
}

// readLines decodes the stream until its end and passes each line on. Garbage
// and lines that are too long become notes. It holds one line at a time.
func readLines(r io.Reader, pass func(item) bool) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var buf []byte
	size := 0
	for {
		chunk, err := br.ReadSlice('\n')
		size += len(chunk)
		if size <= maxLine {
			buf = append(buf, chunk...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if it, ok := itemOf(buf, size, err != nil); ok && !pass(it) {
			return nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
				return nil
			}
			return fmt.Errorf("read stream: %w", err)
		}
		size, buf = 0, buf[:0]
		if cap(buf) > keepBuffer {
			buf = nil
		}
	}
}

// itemOf returns the item for a line of the given size. buf holds the part that fits.
func itemOf(buf []byte, size int, torn bool) (item, bool) {
	if size > maxLine {
		return item{note: fmt.Sprintf("left out a line of %d MB", size>>20)}, true
	}
	b := bytes.TrimSpace(buf)
	if len(b) == 0 {
		return item{}, false
	}
	l, err := decode(b)
	if err == nil {
		return item{line: l}, true
	}
	what := "ignored a line that is not JSON: "
	if torn {
		what = "the stream ends in the middle of a line: "
	}
	return item{note: what + plan.OneLine(string(b[:min(len(b), 4*maxDetail)]), maxDetail)}, true
}
