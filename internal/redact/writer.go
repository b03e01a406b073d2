package redact

import (
	"bytes"
	"fmt"
	"io"
)

// maxPending is the maximum number of bytes of an unfinished line that are kept back.
const maxPending = 64 << 10

// Writer returns a writer that redacts line by line, so that a secret split between two writes is
// found. It holds a private key back until its end. Close writes the rest; it does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &writer{r: r, w: w}
}

type writer struct {
	r       *Redactor
	w       io.Writer
	pending []byte
	inKey   bool // in a private key that is too long to hold back: its rest is dropped
}

func (w *writer) Write(p []byte) (int, error) {
	w.pending = append(w.pending, p...)
	if err := w.flush(false); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) Close() error { return w.flush(true) }

// flush writes the finished part; at the end, everything.
func (w *writer) flush(end bool) error {
	if w.inKey && !w.skipKey() {
		return nil // also at the end: an unfinished key is dropped
	}
	cut := len(w.pending)
	if !end {
		cut = w.writableLength()
	}
	if cut == 0 {
		return nil
	}
	if _, err := io.WriteString(w.w, w.r.String(string(w.pending[:cut]))); err != nil {
		return fmt.Errorf("write redacted: %w", err)
	}
	w.pending = append(w.pending[:0], w.pending[cut:]...)
	return nil
}

// writableLength returns the length of the part of pending that can be written: up to the last line end,
// but not into a private key. If that holds back too much, it ends at a place that divides no
// secret.
func (w *writer) writableLength() int {
	cut := bytes.LastIndexByte(w.pending, '\n') + 1
	begin := openKey(w.pending)
	if begin >= 0 {
		cut = min(cut, begin)
	}
	if len(w.pending)-cut <= maxPending {
		return cut
	}
	if begin >= 0 {
		w.inKey = true
		w.pending = append(w.pending[:begin], Mark...) // the rest is dropped as it arrives
		return len(w.pending)
	}
	return w.divisionOffset()
}

// divisionOffset returns where to divide an unfinished line: its parts redact to the same text as the
// whole. If a secret covers all places tried, its first part is written with the text before it.
func (w *writer) divisionOffset() int {
	all := w.r.String(string(w.pending))
	back := maxPending / 2
	if len(w.r.values) > 0 {
		back = max(back, len(w.r.values[0]))
	}
	limit := max(len(w.pending)-back, 1)
	cut := limit
	for range 16 {
		if gap := bytes.LastIndexAny(w.pending[:cut], " \t,;"); gap > 0 {
			cut = gap
		} else {
			cut = max(cut-1000, 1)
		}
		if w.r.String(string(w.pending[:cut]))+w.r.String(string(w.pending[cut:])) == all {
			return cut
		}
	}
	return limit
}

var (
	keyBegin = []byte("-----BEGIN ")
	keyEnd   = []byte("-----END ")
	dashes   = []byte("-----")
)

// openKey returns where an unfinished private key begins, or -1.
func openKey(b []byte) int {
	begin := bytes.LastIndex(b, keyBegin)
	if begin < 0 || afterKey(b[begin:]) >= 0 {
		return -1
	}
	head, _, _ := bytes.Cut(b[begin+len(keyBegin):], dashes)
	if !bytes.Contains(head, []byte("PRIVATE KEY")) {
		return -1
	}
	return begin
}

// afterKey returns the offset after the line that ends a key, or -1.
func afterKey(b []byte) int {
	end := bytes.Index(b, keyEnd)
	if end < 0 {
		return -1
	}
	end += len(keyEnd)
	if i := bytes.Index(b[end:], dashes); i >= 0 {
		return end + i + len(dashes)
	}
	return -1
}

// skipKey drops pending up to the end of the private key. It reports whether the key has ended.
func (w *writer) skipKey() bool {
	after := afterKey(w.pending)
	if w.inKey = after < 0; w.inKey {
		after = max(0, len(w.pending)-100) // the line that ends it may be split
	}
	w.pending = append(w.pending[:0], w.pending[after:]...)
	return !w.inKey
}
