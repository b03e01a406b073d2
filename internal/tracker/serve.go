package tracker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Serve reads requests from in and writes replies to out, until in ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, handle Handler) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxReply)
	answers := json.NewEncoder(out)
	answers.SetEscapeHTML(false)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := answers.Encode(answer(ctx, lines.Bytes(), handle)); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read requests: %w", err)
	}
	return nil
}

func answer(ctx context.Context, text []byte, handle Handler) Reply {
	var r Request
	err := json.Unmarshal(text, &r)
	var reply Reply
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
		defer cancel()
		reply, err = handle(ctx, r)
	}
	if err == nil {
		reply.OK = true
		return reply
	}
	if told, ok := errors.AsType[*Error](err); ok {
		return Reply{Error: told.What, Hint: told.Hint, Retry: told.Retry}
	}
	return Reply{Error: err.Error()}
}

// unknownVerb returns the error for an unknown verb.
func unknownVerb(r Request) error { return newError("", "unknown request %q", cleanLine(string(r.Do))) }
