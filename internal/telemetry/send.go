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
)

// SendTimeout bounds all attempts for the runs of a loop.
const SendTimeout = 2 * time.Minute

const maxReply = 64 << 10 // bytes that are read of an answer

// Sender sends runs to a collector.
type Sender struct {
	Settings
	Loop Loop

	pauses []time.Duration // before further attempts; nil: retryPauses
}

func retryPauses() []time.Duration {
	return []time.Duration{time.Second, 5 * time.Second, 20 * time.Second}
}

// Send sends a run. The context bounds it.
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

// post posts a body, again where that may help.
func (s Sender) post(ctx context.Context, to string, header http.Header, body []byte) error {
	if to == "" {
		return nil
	}
	pauses := s.pauses
	if pauses == nil {
		pauses = retryPauses()
	}
	for try := 0; ; try++ {
		again, after, err := s.attempt(ctx, to, header, body)
		if err == nil || !again {
			return err
		}
		if try == len(pauses) {
			return fmt.Errorf("%w (%d attempts)", err, try+1)
		}
		pause := time.NewTimer(max(pauses[try], min(after, 30*time.Second)))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("%w (%d attempts, then out of time)", err, try+1)
		}
	}
}

// attempt posts once, and tells whether another attempt may help, and when.
func (s Sender) attempt(ctx context.Context, to string, header http.Header, body []byte) (again bool, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return false, 0, errors.New("the address is not one of HTTP")
	}
	q.Header = header.Clone()
	q.Header.Set("Content-Type", "application/json")
	// No redirect is followed: the headers, which may hold a key, are meant for one place.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	answer, err := client.Do(q)
	if wrapped := new(url.Error); errors.As(err, &wrapped) {
		err = wrapped.Err // without the address
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", s.Timeout)
	}
	if err != nil {
		return true, 0, fmt.Errorf("%s: %w", q.URL.Host, err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxReply)) // the status says it all
	switch code := answer.StatusCode; {
	case code < http.StatusMultipleChoices:
		return false, 0, nil
	case code < http.StatusBadRequest:
		return false, 0, fmt.Errorf("%s redirects (%s), which is not followed: set the new address", q.URL.Host, answer.Status)
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // a date is as good as nothing
		again, after = true, time.Duration(seconds)*time.Second
	}
	return again, after, fmt.Errorf("%s answers %s", q.URL.Host, answer.Status)
}
