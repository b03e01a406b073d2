package telemetry

import "time"

// WithShortPauses returns the sender with two short pauses.
func WithShortPauses(s Sender) Sender {
	s.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	return s
}
