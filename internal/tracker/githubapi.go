package tracker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

const (
	ghTimeout = 30 * time.Second
	pageSize  = 100
	maxPages  = 30
)

// call is a request to GitHub's API.
type call struct {
	host   string // "" = gh's default host
	method string
	path   string
	body   any // nil = none
}

// api makes a call with gh, and decodes the response into out.
func (g *GitHub) api(ctx context.Context, c call, out any) error {
	argv := []string{"gh", "api", "-i", "-X", c.method}
	if c.host != "" {
		argv = append(argv, "--hostname", c.host)
	}
	spec := proc.Spec{Dir: g.Dir, Env: ghEnv(g.Env), Grace: time.Second}
	if argv = append(argv, c.path); c.body != nil {
		data, err := json.Marshal(c.body)
		if err != nil {
			return fmt.Errorf("encode %s: %w", c.path, err)
		}
		argv, spec.Stdin = append(argv, "--input", "-"), bytes.NewReader(data)
	}
	ctx, cancel := context.WithTimeout(ctx, ghTimeout)
	defer cancel()
	answer, said := &proc.Head{MaxBytes: maxReply, OnFull: cancel}, &proc.Head{MaxBytes: maxStderr}
	spec.Argv, spec.Stdout, spec.Stderr = argv, answer, said
	exit := proc.Run(ctx, spec)
	switch {
	case errors.Is(exit.Err, exec.ErrNotFound):
		return temporaryError("install gh (https://cli.github.com), then  gh auth login", "gh is not installed")
	case answer.Truncated:
		return newError("", "the answer to %s is larger than %d bytes", c.path, maxReply)
	case exit.Cancelled:
		return temporaryError("check the network, then try again", "no answer to %s within %s", c.path, ghTimeout)
	case exit.Err != nil:
		return exit.Err
	}
	if len(answer.Bytes()) == 0 {
		return noCallError(exit.Code, said.String())
	}
	return decodeResponse(answer.Bytes(), c, out)
}

// ghAuthExit is the exit code of gh if nobody is logged in.
const ghAuthExit = 4

// noCallError explains why gh made no call.
func noCallError(code int, said string) error {
	if code == ghAuthExit {
		return temporaryError("gh auth login, or set GH_TOKEN", "gh is not logged in")
	}
	said, _, _ = strings.Cut(strings.TrimSpace(said), "\n")
	return temporaryError("check the network, and  gh auth status", "gh: exit %d: %s", code, cleanLine(said))
}

// ghEnv returns the environment of gh, without prompts and colours.
func ghEnv(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "GH_DEBUG" || name == "DEBUG" || name == "GH_FORCE_TTY" || name == "CLICOLOR_FORCE"
	})
	return append(env, "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1")
}

// decodeResponse reads the output of gh api -i.
func decodeResponse(data []byte, c call, out any) error {
	in := bufio.NewReader(bytes.NewReader(data))
	lines := textproto.NewReader(in)
	first, err := lines.ReadLine()
	if err != nil {
		return fmt.Errorf("read the answer to %s: %w", c.path, err)
	}
	header, err := lines.ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer to %s: %w", c.path, err)
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the answer to %s: %w", c.path, err)
	}
	words := strings.Fields(first)
	status := 0
	if len(words) > 1 {
		status, _ = strconv.Atoi(words[1])
	}
	if status < 200 || status > 299 {
		return responseError(status, header, body, c)
	}
	if out == nil || len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("decode the answer to %s: %w", c.path, err)
	}
	return nil
}

// statusError is GitHub's error for a call.
type statusError struct {
	reply  *Error
	status int
}

func (e *statusError) Error() string { return e.reply.What }
func (e *statusError) Unwrap() error { return e.reply }

// responseError returns the error in GitHub's response, with a hint.
func responseError(status int, header textproto.MIMEHeader, body []byte, c call) error {
	var told struct{ Message string }
	_ = json.Unmarshal(body, &told) // without JSON there is no message
	where := strings.TrimPrefix(c.path, "repos/")
	e := newError("", "GitHub answers %d to %s %s: %s", status, c.method, where, cleanLine(told.Message))
	switch {
	case status == 403 || status == 429:
		e.Hint = "the login of gh needs write access to the issues: gh auth status"
		if header.Get("X-Ratelimit-Remaining") == "0" || header.Get("Retry-After") != "" {
			e.What, e.Hint, e.Retry = "GitHub's rate limit is reached"+rateLimitEnd(header), "try again then; logged-in users have a higher limit", true
		}
	case status == 401:
		e.Hint, e.Retry = "gh auth login: the login of gh is not valid any more", true
	case status == 404 || status == 410:
		e.What, e.Hint = "GitHub has no "+where+", or this login may not see it", "check the address, and  gh auth status"
	case status >= 500:
		e.Hint, e.Retry = "try again later", true
	}
	return &statusError{e, status}
}

// rateLimitEnd returns a text that says when a rate limit ends.
func rateLimitEnd(header textproto.MIMEHeader) string {
	if at, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
		return " until " + time.Unix(at, 0).Format("15:04")
	}
	return ""
}

// isStatus reports whether GitHub's error has one of these statuses.
func isStatus(err error, status ...int) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && slices.Contains(status, e.status)
}

// pages calls take with each page of a list, until the list ends or take returns false.
func pages[T any](ctx context.Context, g *GitHub, c call, take func([]T) (more bool)) error {
	mark := "?"
	if strings.Contains(c.path, "?") {
		mark = "&"
	}
	for n := range maxPages {
		var page []T
		at := c
		at.path += fmt.Sprintf("%sper_page=%d&page=%d", mark, pageSize, n+1)
		if err := g.api(ctx, at, &page); err != nil {
			return err
		}
		if !take(page) || len(page) < pageSize {
			return nil
		}
	}
	return nil
}
