package journal

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A failing disk: the error is reported, nothing of the entry stays, and the
// next append continues.
func TestFailedAppendIsTakenBack(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		fail func(w *Writer)
		want error
	}{
		{"no space", func(w *Writer) {
			w.write = func([]byte) (int, error) { return 0, syscall.ENOSPC }
		}, syscall.ENOSPC},
		{"no space after some bytes", func(w *Writer) {
			w.write = func(b []byte) (int, error) {
				n, err := w.file.Write(b[:len(b)/2])
				return n, errors.Join(err, syscall.ENOSPC)
			}
		}, syscall.ENOSPC},
		{"sync fails", func(w *Writer) {
			w.sync = func() error { return syscall.EIO }
		}, syscall.EIO},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			mustAppend(t, w, "a")
			c.fail(w)
			if _, err := w.Append(1, Entry{Type: "b"}); !errors.Is(err, c.want) {
				t.Fatalf("error = %v, want %v", err, c.want)
			}
			if info, err := os.Stat(w.path); err != nil || info.Size() != w.last.Mark.End {
				t.Errorf("something of it stayed: %v, %v", info.Size(), err)
			}
			w.write, w.sync = w.file.Write, w.file.Sync
			mustAppend(t, w, "b")
			if n, _, err := Verify(w.path); n != 2 || err != nil {
				t.Errorf("verify: %d, %v", n, err)
			}
		})
	}
}

// Where not even the taking back worked, the next append finds a torn end.
func TestAppendRepairsATornEnd(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	mustAppend(t, w, "a")
	if _, err := w.file.WriteString(`{"seq":2,"at`); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, w, "b")
	var got []string
	for r, err := range Records(w.path, Mark{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Type)
	}
	if want := []string{"a", TornType, "b"}; len(got) != 3 || got[1] != TornType || got[2] != "b" {
		t.Errorf("records = %v, want %v", got, want)
	}
}

// An end that cannot be read is not a reason to cut anything.
func TestUnreadableEndIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := lastRecord(failingReader{}, 1000); !errors.Is(err, syscall.EIO) {
		t.Errorf("tail: %v, want EIO", err)
	}
	if err := checkMark(failingReader{}, Mark{Seq: 1, Start: 0, End: 10}); !errors.Is(err, syscall.EIO) {
		t.Errorf("holds: %v, want EIO", err)
	}
}

func TestClosedWriterSaysSo(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(1, Entry{Type: "a"}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error = %v, want ErrClosed", err)
	}
}

type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, syscall.EIO }

func newWriter(t *testing.T) *Writer {
	t.Helper()
	w, err := Open(filepath.Join(t.TempDir(), "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() }) // may be closed already
	return w
}

func mustAppend(t *testing.T, w *Writer, kind string) {
	t.Helper()
	if _, err := w.Append(1, Entry{Type: kind}); err != nil {
		t.Fatal(err)
	}
}
