package verify

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// disk is a file that runs full.
type disk struct {
	strings.Builder
	room   int
	closed bool
}

func (d *disk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return 0, errors.New("no space left on device")
	}
	d.room -= len(p)
	return d.Builder.Write(p)
}

func (d *disk) Close() error {
	d.closed = true
	return nil
}

func TestOutputSurvivesAFullDisk(t *testing.T) {
	t.Parallel()
	d := &disk{room: 5}
	o := &output{file: d}
	for _, s := range []string{"one\n", "two\n", "three\n"} {
		if n, err := o.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("write: %d, %v", n, err)
		}
	}
	if !d.closed || d.String() != "one\n" || o.end() != "one\ntwo\nthree\n" {
		t.Errorf("on disk %q, closed %v", d.String(), d.closed)
	}
}

func TestOutputOnDiskIsItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		size int // of what comes between the first line and the last
		want int // bytes on disk
	}{
		{"short", 1000, 1012},
		{"as much as is kept", 2*maxLog - 12, 2 * maxLog},
		{"more", 9 * maxLog, 2*maxLog + len("\n[pawl: 29360140 bytes left out]\n")},
	} {
		d := &disk{room: 1 << 30}
		o := &output{file: d}
		for _, s := range []string{"first\n", strings.Repeat("x", c.size/2), strings.Repeat("x", c.size/2), "last.\n"} {
			if _, err := o.Write([]byte(s)); err != nil {
				t.Fatal(err)
			}
		}
		o.end()
		got := d.String()
		if len(got) != c.want || !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "last.\n") || !d.closed {
			t.Errorf("%s: %d bytes on disk, want %d", c.name, len(got), c.want)
		}
	}
}

func TestTailIsWholeLinesOfText(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, in, want string }{
		{"short", "a\nb\n", "a\nb\n"},
		{"cut in a line", strings.Repeat("é", maxTail) + "\nlast\n", "last\n"},
		{"one line only", "x" + strings.Repeat("é", maxTail), strings.Repeat("é", maxTail/2)},
		{"bytes", "\xff\xfe\x00ok", "�ok"},
	}
	for _, c := range cases {
		o := newOutput("", "")
		for chunk := range slices.Chunk([]byte(c.in), 1000) {
			if _, err := o.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if got := o.end(); got != c.want {
			t.Errorf("%s: %d bytes, %.20q; want %d, %.20q", c.name, len(got), got, len(c.want), c.want)
		}
	}
}

func TestLogNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"go test ./...": "go-test", "../../etc/passwd": "etc-passwd", "": "gate", "…": "gate",
		strings.Repeat("x", 200): strings.Repeat("x", 80),
	} {
		if got := logName(name, ""); got != want {
			t.Errorf("logName(%q) = %q, want %q", name, got, want)
		}
	}
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := newOutput(dir, "x"); o.file != nil {
		t.Error("a log in what is no folder")
	}
}

func TestWhatMayPassToGates(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name          string
		unix, windows bool
	}{
		{"PATH", true, true},
		{"Path", false, true},
		{"SystemRoot", false, true},
		{"LC_ALL", true, true},
		{"GOFLAGS", true, true},
		{"GOOGLE_API", false, false},
		{"CARGO_HOME", true, true},
		{"CARGO_REGISTRY_TOKEN", false, false},
		{"NODE_AUTH_TOKEN", false, false},
		{"ANTHROPIC_MODEL", false, false},
		{"CLAUDE_CONFIG_DIR", false, false},
		{"AWS_REGION", false, false},
		{"EDITOR", false, false},
	}
	for _, c := range cases {
		if got := mayPass(c.name, false); got != c.unix {
			t.Errorf("%s on unix: %v", c.name, got)
		}
		if got := mayPass(c.name, true); got != c.windows {
			t.Errorf("%s on windows: %v", c.name, got)
		}
	}
}

func TestHeadIsThereWhereTheTailIsNotAll(t *testing.T) {
	t.Parallel()
	long := "first\n" + strings.Repeat("é", maxHead) + "\n" + strings.Repeat("x\n", 3*maxTail) + "last\n"
	for in, want := range map[string]string{"a\nb\n": "", long: "first"} {
		o := newOutput("", "")
		for chunk := range slices.Chunk([]byte(in), 1000) {
			if _, err := o.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if tail := o.end(); !strings.HasSuffix(in, tail) {
			t.Errorf("the tail is %.20q", tail)
		}
		if got := o.begin(); got != want {
			t.Errorf("the head is %.40q, want %.20q", got, want)
		}
	}
}
