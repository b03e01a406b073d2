package report

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/figure"
)

// Wait is a time in which a loop waited for a usage limit.
type Wait struct {
	From  time.Time
	Until time.Time // zero: it still waits
}

// Waits finds them in the events of a loop, in order.
func Waits(events iter.Seq[loop.Event]) []Wait {
	var waits []Wait
	waiting := false
	for e := range events {
		if waiting && e.Kind != loop.MessageArrived && e.Kind != loop.OwnerLost && e.Kind != loop.Learnt && e.Kind != loop.Forgot { // these leave it waiting
			waits[len(waits)-1].Until = e.At
			waiting = false
		}
		if e.Kind == loop.AgentFailed && e.Failure != nil && e.Failure.Class == loop.UsageLimit {
			waits = append(waits, Wait{From: e.At})
			waiting = true
		}
	}
	return waits
}

// waited says how long, and when where that is not too much to say.
func (p *page) waited() string {
	const named = 3
	total := time.Duration(0)
	var when []string
	for _, w := range p.Waits {
		until, to := w.Until, w.Until.In(p.Zone).Format("15:04")
		if until.IsZero() {
			until, to = p.Now, "now"
		}
		total += until.Sub(w.From)
		when = append(when, w.From.In(p.Zone).Format("15:04")+"–"+to)
	}
	switch {
	case len(p.Waits) == 0:
		return ""
	case len(p.Waits) > named:
		return fmt.Sprintf("%s of it waiting for the usage limit, %d times", figure.Duration(total), len(p.Waits))
	}
	return fmt.Sprintf("%s of it waiting for the usage limit, %s", figure.Duration(total), strings.Join(when, ", "))
}
