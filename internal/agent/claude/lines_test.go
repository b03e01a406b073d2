package claude

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// collect reads a stream and returns the types of its lines and how many notes
// there were.
func collect(t testing.TB, r io.Reader) (types []string, notes int) {
	t.Helper()
	err := readLines(r, func(it item) bool {
		if it.note != "" {
			notes++
		} else {
			types = append(types, it.line.Type)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return types, notes
}

// Laws of the decoder: it never fails on content; a good line between garbage
// is found; and how the stream is cut into reads makes no difference.
func FuzzReadLines(f *testing.F) {
	f.Add([]byte("garbage\n{\"type\":7}\n{"))
	f.Add([]byte(`{"type":"result","is_error":"yes","modelUsage":[1]}`))
	f.Add([]byte("\xff\xfe\x00{\"type\":\"user\",\"message\":{\"content\":[{\"type\":3}]}}"))
	f.Add([]byte(`{"type":"assistant","message":{"content":"text","usage":{"input_tokens":1e99}}}`))
	f.Fuzz(func(t *testing.T, garbage []byte) {
		stream := append(append([]byte(nil), garbage...), "\n{\"type\":\"wanted\"}\n"...)
		types, notes := collect(t, bytes.NewReader(stream))
		if len(types) == 0 || types[len(types)-1] != "wanted" {
			t.Fatalf("the good line was lost: %q", types)
		}
		again, notesAgain := collect(t, iotest.OneByteReader(bytes.NewReader(stream)))
		if strings.Join(again, ",") != strings.Join(types, ",") || notes != notesAgain {
			t.Fatalf("cut into bytes: %q and %d notes, whole: %q and %d", again, notesAgain, types, notes)
		}
	})
}

func TestReadLinesStops(t *testing.T) {
	t.Parallel()
	n := 0
	err := readLines(strings.NewReader("{\"type\":\"a\"}\n{\"type\":\"b\"}\n"), func(item) bool { n++; return false })
	if err != nil || n != 1 {
		t.Errorf("%d lines passed, error %v", n, err)
	}
	broken := errors.New("disk full")
	if err := readLines(iotest.ErrReader(broken), func(item) bool { return true }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// repeated is a stream of n copies of a line.
type repeated struct {
	line []byte
	n    int
	rest []byte
}

func (r *repeated) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = r.line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// The memory that reading takes does not grow with the stream.
func TestReadLinesIsFlat(t *testing.T) {
	const lineSize, total = 256 << 10, 64 << 20
	line := []byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"` +
		strings.Repeat("x", lineSize) + `"}]}}` + "\n")
	var m runtime.MemStats
	var peak uint64
	count := 0
	err := readLines(&repeated{line: line, n: total / lineSize}, func(item) bool {
		if count++; count%16 == 0 {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
		return true
	})
	if err != nil || count != total/lineSize {
		t.Fatalf("%d lines, error %v", count, err)
	}
	if peak > 40<<20 {
		t.Errorf("heap grew to %d MB over a stream of %d MB", peak>>20, total>>20)
	}
}

func BenchmarkReadLines(b *testing.B) {
	line := []byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"` +
		strings.Repeat("x", 16<<10) + `"}]}}` + "\n")
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	if err := readLines(&repeated{line: line, n: b.N}, func(item) bool { return true }); err != nil {
		b.Fatal(err)
	}
}

func TestResultsAreFoundWithoutDecoding(t *testing.T) {
	t.Parallel()
	l, err := decode([]byte(`{"type":"user","message":{"content":[{"tool_use_id":"a","content":"\"tool_use_id\":\"no\""},` +
		`{"tool_use_id":"b"}]},"tool_use_result":{"tool_use_id":"a"}}`))
	var ids []string
	for _, b := range l.Message.Content {
		ids = append(ids, b.ToolUseID)
	}
	if err != nil || strings.Join(ids, ",") != "a,b" {
		t.Errorf("ids %q, %v", ids, err)
	}
}

// Of a long result there is its beginning, whole words of it, in the forms that the client
// has for it. Whether the command failed is not known, so it counts as not run.
func TestExcerptKeepsTheBeginning(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`a \"b\" \u00e4\n`, 20_000)
	for name, c := range map[string]struct{ result, want string }{
		"text":          {`"tool_use_id":"t1","type":"tool_result","content":"` + long + `"`, "a \"b\" ä\na "},
		"blocks":        {`"tool_use_id":"t1","type":"tool_result","content":[{"type":"text","text":"` + long + `"}]`, "a \"b\" ä\na "},
		"a picture":     {`"tool_use_id":"t1","type":"tool_result","content":[{"type":"image","source":{"data":"` + long + `"}}]`, "… "},
		"content first": {`"type":"tool_result","content":"` + long + `","tool_use_id":"t1"`, "… "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, ok := decodeUser([]byte(`{"type":"user","message":{"content":[{` + c.result + `}]}}`))
			if !ok || len(l.Message.Content) != 1 {
				t.Fatalf("%v %+v", ok, l)
			}
			b := l.Message.Content[0]
			if got := string(b.Content); !strings.HasPrefix(got, c.want) || !strings.Contains(got, "kB left out") || strings.Contains(got, `\`) {
				t.Errorf("%.80q", got)
			}
			bash := calledTool{"Bash", map[string]any{"command": "go test"}}
			if ran := bash.ran(b); ran != nil {
				t.Errorf("ran %.80v", ran)
			}
		})
	}
}
