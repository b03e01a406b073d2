package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

var (
	loopID = regexp.MustCompile(`\b[a-z]+-[a-z]+-[0-9a-f]{4}\b`)
	clock  = regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`)
	number = regexp.MustCompile(`\bbyte \d+|\bm\d{19}\b`)
	took   = regexp.MustCompile(`\b\d+s elapsed|\bDuration \d+\.\ds`) // on a loaded machine seconds pass
)

// normalize removes the parts of a text that differ between runs.
func (w *fixture) normalize(text string) string {
	for name, path := range map[string]string{"HOME": w.home, "ROOT": w.root} {
		quoted, _ := json.Marshal(path) // as JSON writes it on Windows
		text = strings.ReplaceAll(text, strings.Trim(string(quoted), `"`), name)
		text = strings.ReplaceAll(text, path, name)
	}
	if w.loop != nil {
		text = strings.ReplaceAll(text, w.loop.ID, "LOOP")
	}
	text = clock.ReplaceAllString(loopID.ReplaceAllString(text, "LOOP"), "TIME")
	return took.ReplaceAllString(number.ReplaceAllString(text, "N"), "SECONDS")
}

// newRecords describes the records that were added to the journal since the last call.
func (d *dialogue) newRecords() string {
	var words []string
	for r, err := range d.loop.Records(journal.Mark{}) {
		if err != nil || r.Seq <= d.read {
			continue
		}
		d.read = r.Seq
		switch {
		case r.Type == memory.TypeEvent:
			var e loop.Event
			if err := json.Unmarshal(r.Data, &e); err != nil {
				d.t.Error(err)
			}
			words = append(words, describeEvent(e))
		case r.Type == memory.TypeNote:
			var note memory.Note
			if err := json.Unmarshal(r.Data, &note); err != nil {
				d.t.Error(err)
			}
			words = append(words, fmt.Sprintf("(%s: %s)", note.Level, note.Text))
		default:
			words = append(words, r.Type)
		}
	}
	return strings.Join(words, ", ")
}

// checkSnapshot fails if the snapshot differs from the state by the journal alone.
func (d *dialogue) checkSnapshot(m memory.Memory, err error) {
	data, readErr := os.ReadFile(filepath.Join(d.loop.Dir, "journal.jsonl"))
	if err != nil || readErr != nil {
		return // damaged or gone, as the dialogue says
	}
	copied := store.Open(d.t.TempDir()).Loop(d.loop.ID)
	if err := errors.Join(os.MkdirAll(copied.Dir, 0o700), os.WriteFile(filepath.Join(copied.Dir, "journal.jsonl"), data, 0o600)); err != nil {
		d.t.Fatal(err)
	}
	again, _, err := record.Load(copied)
	if corrupt := (*journal.CorruptError)(nil); errors.As(err, &corrupt) {
		return // it was damaged behind the snapshot's back
	}
	if diff := cmp.Diff(again, m, cmpopts.EquateEmpty()); err != nil || diff != "" {
		d.t.Errorf("the fold of the journal (-) is not the snapshot (+): %v\n%s", err, diff)
	}
}

// describeEvent returns a short text for an event.
func describeEvent(e loop.Event) string {
	text := string(e.Kind())
	if t, ok := e.Turn(); ok {
		switch {
		case t.ByUser:
			text += " by the user"
		case t.Claim != nil && t.Claim.Blocked:
			text += " blocked: " + t.Claim.Reason
		case t.Claim != nil:
			text += " with a claim"
		}
		if t.ToolCalls > 0 {
			text += fmt.Sprintf(" after %d calls", t.ToolCalls)
		}
		if len(t.Background) > 0 {
			text += fmt.Sprintf(" beside %q", t.Background)
		}
	}
	word := ""
	switch p := e.Payload.(type) {
	case loop.AgentFailed:
		text += fmt.Sprintf(" %s %q %q", p.Failure.Class, p.Failure.Message, p.Failure.Hint)
	case loop.GatesFinished:
		text += " " + string(p.Gates.Status)
	case loop.MessageArrived:
		word = p.Text
	case loop.Answered:
		word = p.Answer
	case loop.Cancelled:
		word = p.Cause
	case loop.HandoverRequested:
		word = p.Why
	case loop.HandedOver:
		word = p.Why
	}
	if word != "" {
		text += " " + strings.ReplaceAll(word, "\n", `\n`)
	}
	return text
}

// holdLease lets another process hold the loop's lease until release.
func (w *fixture) holdLease() (release func()) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0], w.home, w.loop.ID)
	cmd.Env = append(slices.Clip(w.env.Vars), role+"="+asHolder)
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if said := make([]byte, 5); true {
		if _, err := io.ReadFull(out, said); err != nil || string(said) != "held\n" {
			w.t.Fatalf("holder: %s %v", said, err)
		}
	}
	return func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			w.t.Error("holder:", err)
		}
	}
}
