package tracker

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Text is what open issues say, for a plan that is to be written of them. Strangers wrote
// it. What readers of an issue do not see is left out.
func Text(from Address, issues []Issue) (string, error) {
	var parts, closed []string
	for _, i := range issues {
		name := strings.TrimSpace(line(i.Key) + " " + line(i.Title))
		if i.Closed {
			closed = append(closed, fmt.Sprintf("%s (%s) is closed", line(i.Key), plan.OneLine(i.Title, 60)))
			continue
		}
		parts = append(parts, "# "+name, strings.TrimSpace(hidden.ReplaceAllString(i.Body, "")))
		if len(i.Criteria) > 0 {
			parts = append(parts, "It is done when:\n\n- "+strings.Join(i.Criteria, "\n- "))
		}
	}
	if len(parts) == 0 {
		why := from.String() + " names none"
		if len(closed) > 0 {
			why = strings.Join(closed[:min(3, len(closed))], "; ")
		}
		return "", failure.New(failure.Usage, "name an issue that is open", "no issue to plan: %s", why)
	}
	return paragraphs(parts...), nil
}
