package proc

import "testing"

func TestTailKeepsTheEnd(t *testing.T) {
	t.Parallel()
	w := Tail{MaxBytes: 10}
	for range 100 {
		_, _ = w.Write([]byte("abc"))
	}
	if got := w.String(); got != "cabcabcabc" || cap(w.kept) > 100 {
		t.Errorf("kept %q, capacity %d", got, cap(w.kept))
	}
}
