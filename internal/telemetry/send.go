package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
)

// SendTimeout limits all attempts for the runs of a loop.
const SendTimeout = 2 * time.Minute

const maxReply = 64 << 10 // maximum of a response that is read, in bytes

// Sender sends runs to a collector.
type Sender struct {
	Settings
	Loop Loop

	pauses []time.Duration // before each retry; see failure.Retry
}

// Send sends a run, unless the context ends first.
func (s Sender) Send(ctx context.Context, r Run) error {
	resource := slices.Concat(s.Resource, []Attribute{{"service.version", s.Loop.Version}, {"service.instance.id", s.Loop.ID}})
	traces, err := encodeTraces(resource, s.Loop.Version, r)
	if err == nil {
		err = s.post(ctx, s.Traces, s.TraceHeader, traces)
	}
	if err != nil {
		return fmt.Errorf("send traces: %w", err)
	}
	metrics, err := encodeMetrics(resource, s.Loop.Version, r)
	if err == nil {
		err = s.post(ctx, s.Metrics, s.MetricHeader, metrics)
	}
	if err != nil {
		return fmt.Errorf("send metrics: %w", err)
	}
	return nil
}

// post posts a body. It retries after temporary errors.
func (s Sender) post(ctx context.Context, to string, header http.Header, body []byte) error {
	if to == "" {
		return nil
	}
	return failure.Retry(ctx, s.pauses, func() error { return s.attempt(ctx, to, header, body) })
}

// attempt posts a body once.
func (s Sender) attempt(ctx context.Context, to string, header http.Header, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address is not one of HTTP")
	}
	q.Header = header.Clone()
	q.Header.Set("Content-Type", "application/json")
	// Redirects are not followed: the headers may contain a key for this host only.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	answer, err := client.Do(q)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the address, which may contain a secret
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", s.Timeout)
	}
	if err != nil {
		return &failure.Temporary{Err: fmt.Errorf("%s: %w", q.URL.Host, err)}
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxReply)) // only the status matters
	err = fmt.Errorf("%s answers %s", q.URL.Host, answer.Status)
	switch code := answer.StatusCode; {
	case code < http.StatusMultipleChoices:
		return nil
	case code < http.StatusBadRequest:
		return fmt.Errorf("%s redirects (%s), which is not followed: set the new address", q.URL.Host, answer.Status)
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // a date is ignored
		return &failure.Temporary{Err: err, After: time.Duration(seconds) * time.Second}
	}
	return err
}
