package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
)

const (
	maxTranscriptBytes  = 512 << 10 // bytes of an iteration's file
	maxOutputsBytes     = 384 << 10 // bytes after which calls have no output
	maxOutputBytes      = 2 << 10   // bytes of one output
	redactedOutputBytes = 16 << 10  // bytes of an output in which secrets are searched
	maxDetailChars      = 400       // runes
)

// transcript writes the tool calls of a turn to the iteration's file. The file is bounded;
// calls that do not fit are counted.
type transcript struct {
	file    *os.File
	redact  func(string) string
	size    int64
	running map[string]bool // ids of written calls
	dropped int
	err     error // the first one
}

// startTranscript opens the transcript of a turn. A transcript that cannot be written is a
// warning.
func (r *Runner) startTranscript(ctx context.Context, iteration int) (take func(agent.Event), done func()) {
	redact := r.redactFunc()
	if redact == nil {
		redact = func(text string) string { return text }
	}
	t, err := openTranscript(record.TranscriptPath(r.Loop, iteration), redact)
	if err != nil {
		r.enqueueNote(ctx, loop.Warning, err.Error())
		return func(agent.Event) {}, func() {}
	}
	return t.record, func() {
		if err := t.close(); err != nil {
			r.enqueueNote(ctx, loop.Warning, err.Error())
		}
	}
}

// openTranscript appends to the file at path.
func openTranscript(path string, redact func(string) string) (*transcript, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open transcript: %w", err), f.Close())
	}
	return &transcript{file: f, redact: redact, size: info.Size(), running: map[string]bool{}}, nil
}

// record writes an event if it is of a tool call.
func (t *transcript) record(e agent.Event) {
	switch {
	case e.Kind == agent.KindTool && t.size < maxTranscriptBytes:
		t.running[e.Call] = true
		t.write(record.TranscriptLine{ID: e.Call, Tool: e.Tool, Detail: t.detail(e.Detail)})
	case e.Kind == agent.KindTool:
		t.dropped++
	case e.Kind == agent.KindToolEnd && t.running[e.Call]:
		delete(t.running, e.Call)
		line := record.TranscriptLine{ID: e.Call, Ended: true, Failed: e.Failed}
		if t.size < maxOutputsBytes {
			line.Output = t.output(e.Output)
		}
		t.write(line)
	}
}

// detail returns what a call does, without secrets. It drops the last word of a truncated
// text, which may be part of a secret.
func (t *transcript) detail(text string) string {
	text = plan.OneLine(text, maxDetailChars)
	if whole, cut := strings.CutSuffix(text, "…"); cut {
		text = whole[:strings.LastIndexAny(whole, " ,;")+1] + "…"
	}
	return t.redact(text)
}

// output returns the end of what a tool answered, without secrets.
func (t *transcript) output(text string) string {
	text = strings.TrimSpace(t.redact(tail(text, redactedOutputBytes)))
	if short := tail(text, maxOutputBytes); len(short) < len(text) {
		return "… " + short
	}
	return text
}

func (t *transcript) write(line record.TranscriptLine) {
	line.At = time.Now()
	data, err := json.Marshal(line)
	if err == nil {
		var n int
		n, err = t.file.Write(append(data, '\n'))
		t.size += int64(n)
	}
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("write transcript: %w", err)
	}
}

// close ends the turn's part of the file.
func (t *transcript) close() error {
	if len(t.running) > 0 || t.dropped > 0 {
		t.write(record.TranscriptLine{TurnEnded: true, Dropped: t.dropped})
	}
	return errors.Join(t.err, t.file.Close())
}
