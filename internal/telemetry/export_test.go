package telemetry

import "time"

// Quick is a sender with two short pauses.
func Quick(s Sender) Sender {
	s.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	return s
}
