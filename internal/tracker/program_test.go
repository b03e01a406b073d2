//go:build unix

package tracker

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
)

func script(text string) Program {
	return Program{Name: "tracker", Argv: []string{"sh", "-c", text}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func TestProgramAnswersRequests(t *testing.T) {
	t.Parallel()
	got, err := script(`read -r line; echo "$line" | grep -q '"do":"claim","issue":"7"' && echo '{"ok":true,"changed":true}'`).
		Ask(t.Context(), Request{Do: Claim, Issue: "7"})
	if diff := cmp.Diff(Reply{OK: true, Changed: true}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// Whatever a tracker does, Ask returns in time and limits the reply.
func TestFailingProgramIsReported(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`echo '{"ok":false,"error":"no such sprint","hint":"see the board"}'`: "tracker: no such sprint",
		`printf '%s' '{"error":"two\nlines \u001b[31m"}'`:                     "tracker: two lines",
		`echo '{}'`:               "tracker: without a reason",
		`echo hello`:              "tracker: list: exit 0, and what it printed is no answer: ",
		`echo broken >&2; exit 3`: "tracker: list: exit 3: broken",
		`exit 3`:                  "tracker: list: exit 3, and what it printed is no answer: ",
		`while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`: "tracker: list: it printed more than 4096 bytes",
		`sleep 60`: "tracker: list: no answer within 500ms",
	} {
		p := script(text)
		p.timeout, p.maxReply = 5*time.Second, 4096
		if strings.HasPrefix(text, "sleep") {
			p.timeout = 500 * time.Millisecond
		}
		_, err := p.Ask(t.Context(), Request{Do: List})
		if err == nil || !strings.HasPrefix(err.Error(), want) || failure.CodeOf(err) != failure.Usage {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := (Program{Name: "tracker", Argv: []string{"/nowhere"}}).Ask(t.Context(), Request{Do: List}); err == nil || failure.Hint(err) == "" {
		t.Errorf("no such program: %v", err)
	}
}

func TestServeAnswersEachLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	in := strings.NewReader(`{"do":"list","query":"<a>"}` + "\n\n" + `{"do":"claim"}` + "\nno JSON\n")
	err := Serve(t.Context(), in, &out, func(_ context.Context, r Request) (Reply, error) {
		if r.Do == List {
			return Reply{Issues: []Issue{{ID: r.Query, Key: "k", Title: "t"}}}, nil
		}
		return Reply{}, newError("hint", "what")
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{`{"ok":true,"issues":[{"id":"<a>","key":"k","title":"t"}]}`, `{"ok":false,"error":"what","hint":"hint"}`}
	if err != nil || len(lines) != 3 || lines[0] != want[0] || lines[1] != want[1] || !strings.Contains(lines[2], `"ok":false`) {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := Serve(t.Context(), strings.NewReader("{}\n"), closed{}, func(context.Context, Request) (Reply, error) { return Reply{}, nil }); err == nil {
		t.Error("what cannot be written is no error")
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }
