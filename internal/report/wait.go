package report

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/figure"
)

// Wait is a period in which a loop waited for a usage limit.
type Wait struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until,omitzero"` // absent while it waits
}

// Waits returns the waits in a loop's events, in order.
func Waits(events iter.Seq[loop.Event]) []Wait {
	var waits []Wait
	waiting := false
	for e := range events {
		switch e.Kind() {
		case loop.KindMessageArrived, loop.KindOwnerChanged, loop.KindLessonLearned, loop.KindLessonForgotten, loop.KindLimitsChanged: // they do not end it
		default:
			if waiting {
				waits[len(waits)-1].Until, waiting = e.At, false
			}
		}
		if f, failed := e.Payload.(loop.AgentFailed); failed && f.Failure.Class == loop.UsageLimit {
			waits = append(waits, Wait{From: e.At})
			waiting = true
		}
	}
	return waits
}

// waitedText says how long the loop waited, and when, unless there were many waits.
func (p *page) waitedText() string {
	const named = 3
	var when []string
	for _, w := range p.Waits {
		to := w.Until.In(p.Zone).Format("15:04")
		if w.Until.IsZero() {
			to = "now"
		}
		when = append(when, w.From.In(p.Zone).Format("15:04")+"–"+to)
	}
	total := p.State.TimeAway(p.Now)
	switch {
	case total == 0 && len(p.Waits) == 0:
		return ""
	case len(p.Waits) == 0:
		return figure.Duration(total) + " of it waiting"
	case len(p.Waits) > named:
		return fmt.Sprintf("%s of it waiting; usage limit %d times", figure.Duration(total), len(p.Waits))
	}
	return fmt.Sprintf("%s of it waiting; usage limit %s", figure.Duration(total), strings.Join(when, ", "))
}
