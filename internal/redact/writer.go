package redact

import (
	"bytes"
	"fmt"
	"io"
)

// held is how much of a line without an end is kept back, in bytes, before it is
// written in pieces.
const held = 64 << 10

// Writer redacts what is written through it, line by line: no secret escapes for
// being split between two writes. A private key is held back until its end. Close
// writes what is left; it does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &writer{r: r, w: w}
}

type writer struct {
	r       *Redactor
	w       io.Writer
	pending []byte
	inKey   bool // in a private key too long to be held back: swallow it
}

func (w *writer) Write(p []byte) (int, error) {
	w.pending = append(w.pending, p...)
	if err := w.flush(false); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) Close() error { return w.flush(true) }

// flush writes what is surely whole; at the end, everything.
func (w *writer) flush(end bool) error {
	if w.inKey && !w.leaveKey() {
		return nil // also at the end: a key without an end is all key
	}
	cut := len(w.pending)
	if !end {
		cut = w.whole()
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

// whole is the length of the part of pending that can be written: up to the last
// line end, but not into a private key, and, where that holds back too much, up to
// a place that divides no secret.
func (w *writer) whole() int {
	cut := bytes.LastIndexByte(w.pending, '\n') + 1
	begin := openKey(w.pending)
	if begin >= 0 {
		cut = min(cut, begin)
	}
	if len(w.pending)-cut <= held {
		return cut
	}
	if begin >= 0 {
		w.inKey = true
		w.pending = append(w.pending[:begin], Mark...) // the rest is swallowed as it comes
		return len(w.pending)
	}
	return w.divide()
}

// divide finds a place in a line that does not end, by its definition: the parts
// are redacted as the whole is. Of a secret that fills all places tried, the first
// part is written with the text before it.
func (w *writer) divide() int {
	all := w.r.String(string(w.pending))
	back := held / 2
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

// openKey is where a private key begins that has not ended yet, or -1.
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

// afterKey is the offset behind the line that ends a key, or -1.
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

// leaveKey drops pending up to the end of the private key, if that has come.
func (w *writer) leaveKey() bool {
	after := afterKey(w.pending)
	if w.inKey = after < 0; w.inKey {
		after = max(0, len(w.pending)-100) // the line that ends it may be split
	}
	w.pending = append(w.pending[:0], w.pending[after:]...)
	return !w.inKey
}
