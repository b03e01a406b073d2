package proc

import "bytes"

// Head keeps the first Most bytes that are written to it.
type Head struct {
	MaxBytes  int
	OnFull    func() // called when there is more; may be nil
	Truncated bool   // there was more
	kept      bytes.Buffer
}

// Write never fails.
func (h *Head) Write(p []byte) (int, error) {
	room := min(len(p), h.MaxBytes-h.kept.Len())
	h.kept.Write(p[:room])
	if room < len(p) {
		if h.Truncated = true; h.OnFull != nil {
			h.OnFull()
		}
	}
	return len(p), nil
}

// Bytes returns the kept part.
func (h *Head) Bytes() []byte { return h.kept.Bytes() }

func (h *Head) String() string { return h.kept.String() }

// Tail keeps the last Most bytes that are written to it.
type Tail struct {
	MaxBytes int
	kept     []byte
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.MaxBytes; over > t.MaxBytes { // not on each write
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *Tail) String() string { return string(t.kept[max(0, len(t.kept)-t.MaxBytes):]) }
