package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// address returns the address of a service. Errors do not contain it.
func (s Sender) address(r notice.Receiver) (*url.URL, error) {
	text, err := s.value(r.Arg)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("%s holds no address that begins with https:// or http://", r.Arg)
	}
	return u, nil
}

// post sends the notice in the format of the service.
func (s Sender) post(ctx context.Context, n notice.Notice, r notice.Receiver) error {
	u, err := s.address(r)
	if err != nil {
		return err
	}
	if isBot(r.Kind, u) {
		return s.postToChat(ctx, n, r, u)
	}
	q, err := request(ctx, n, r.Kind, u)
	if err != nil {
		return fmt.Errorf("make the request to %s: %s", u.Host, hideAddress(err.Error(), u))
	}
	_, err = s.do(q, u, attemptTimeout)
	return err
}

// maxResponseBytes limits what is read of a service's response, in bytes.
const maxResponseBytes = 1 << 20

// do sends a request to the host of an address, and returns the response.
func (s Sender) do(q *http.Request, u *url.URL, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(q.Context(), timeout)
	defer cancel()
	// Redirects are not followed: the address, which may be a secret, is for one host.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	answer, err := client.Do(q.WithContext(ctx))
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the address, which may be a secret
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", timeout)
	}
	if err != nil {
		return nil, &failure.Temporary{Err: fmt.Errorf("%s: %s", u.Host, hideAddress(err.Error(), u))}
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxResponseBytes)) // details in addition to the status
	return body, s.readReply(answer, body, u)
}

// readReply returns the error in a service's response, if any.
func (s Sender) readReply(answer *http.Response, body []byte, u *url.URL) error {
	said := s.redacted(hideAddress(plan.OneLine(string(body[:min(len(body), maxOutputBytes)]), 160), u))
	err := errors.New(strings.TrimSuffix(fmt.Sprintf("%s answers %s: %s", u.Host, answer.Status, said), ": "))
	switch code := answer.StatusCode; {
	case code < http.StatusMultipleChoices:
		return nil
	case code < http.StatusBadRequest:
		return fmt.Errorf("%s redirects (%s), which is not followed: set the new address", u.Host, answer.Status)
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= http.StatusInternalServerError:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // a date is ignored
		var reply apiReply
		if json.Unmarshal(body, &reply) == nil {
			seconds = max(seconds, reply.Parameters.RetryAfter)
		}
		return &failure.Temporary{Err: err, After: time.Duration(seconds) * time.Second}
	}
	return err
}

// request returns the request to a service without a bot.
func request(ctx context.Context, n notice.Notice, kind notice.Kind, u *url.URL) (*http.Request, error) {
	text := n.Title + "\n" + n.Text
	var body any
	switch kind {
	case notice.Slack:
		body = map[string]string{"text": markup.Replace(text)}
	case notice.Discord: // an @name in the text must not mention anybody
		body = map[string]any{"content": text, "allowed_mentions": map[string]any{"parse": []string{}}}
	case notice.Ntfy:
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(n.Text))
		if err == nil {
			q.Header.Set("Title", mime.QEncoding.Encode("utf-8", n.Title))
		}
		return q, err
	case notice.Off, notice.Bell, notice.Desktop, notice.Speech, notice.Command, notice.Email, notice.Webhook, notice.Telegram:
		body = n
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return jsonRequest(ctx, u.String(), data)
}

// hideAddress removes the parts of an address that may be secret from a text: all except its host.
func hideAddress(text string, u *url.URL) string {
	parts := strings.FieldsFunc(u.EscapedPath()+"/"+u.Path, func(r rune) bool { return r == '/' })
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		parts = append(parts, u.User.Username(), password)
	}
	for _, part := range append([]string{u.String()}, parts...) {
		if len(part) >= minSecretLength {
			text = strings.ReplaceAll(text, part, "[redacted]")
		}
	}
	return text
}

// minSecretLength is the minimum length of a secret part; shorter words such as api or post stay.
const minSecretLength = 6
