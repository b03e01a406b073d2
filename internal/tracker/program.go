package tracker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
)

const (
	// RequestTimeout limits one request.
	RequestTimeout = 2 * time.Minute
	maxReply       = 8 << 20 // maximum length of a reply, in bytes
	maxStderr      = 4 << 10 // maximum of standard error that is kept, in bytes
)

// Program is a tracker that is started for each request.
type Program struct {
	Name string   // for messages
	Argv []string // program and arguments
	Dir  string   // folder that it runs in, absolute
	Env  []string // complete environment

	timeout  time.Duration // of a request; 0 = RequestTimeout
	maxReply int           // maximum length of a reply in bytes; 0 = maxReply
}

// Ask runs the program with one request. Errors are for people; they wrap an *Error if the program
// replied.
func (p Program) Ask(ctx context.Context, r Request) (Reply, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return Reply{}, fmt.Errorf("encode request: %w", err)
	}
	timeout := cmp.Or(p.timeout, RequestTimeout)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, said := &proc.Head{MaxBytes: cmp.Or(p.maxReply, maxReply), OnFull: cancel}, &proc.Head{MaxBytes: maxStderr}
	exit := proc.Run(ctx, proc.Spec{
		Argv: p.Argv, Dir: p.Dir, Env: p.Env, Stdin: bytes.NewReader(append(data, '\n')), Stdout: out, Stderr: said, Grace: time.Second,
	})
	hint := "run it by hand: it reads one JSON object a line and answers each with another"
	fail := func(format string, args ...any) (Reply, error) {
		return Reply{}, failure.New(failure.Usage, hint, "%s: %s: "+format, append([]any{p.Name, r.Do}, args...)...)
	}
	switch {
	case out.Truncated:
		return fail("it printed more than %d bytes", out.MaxBytes)
	case exit.Cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fail("no answer within %s", timeout)
	case exit.Cancelled:
		return Reply{}, context.Canceled
	case exit.Err != nil:
		return fail("%w", exit.Err)
	}
	var answer Reply
	if err := json.Unmarshal(firstLine(out.Bytes()), &answer); err != nil {
		if words := cleanLine(said.String()); words != "" {
			return fail("exit %d: %s", exit.Code, words)
		}
		return fail("exit %d, and what it printed is no answer: %w", exit.Code, err)
	}
	return answer, answer.userError(p.Name)
}

// firstLine returns the first line that is not empty.
func firstLine(out []byte) []byte {
	for text := range bytes.Lines(out) {
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return text
		}
	}
	return nil
}

// cleanLine returns untrusted text as one clean line.
func cleanLine(text string) string { return plan.OneLine(text, 300) }
