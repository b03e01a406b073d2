package claude

import (
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/regex"
)

// resetPattern matches the end of a usage limit's text. It is read only if no field has the time,
// and only in error results:
//
//	You've hit your session limit · resets 3:45pm
//	You've hit your weekly limit · resets Mon 12:00am
//	You've hit your limit · resets 8pm (Europe/Berlin)
var resetPattern = regex.New(
	`^You've hit your [^·]*limit\b.*· resets (?:(Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?(\d{1,2})(?::(\d{2}))?(am|pm)(?: \(([A-Za-z_/+-]+)\))?`)

// justReset is how long ago a time without a date may be. A limit may reset between the request and
// the event that reports it.
const justReset = 5 * time.Minute

// resetTime returns the time in a text: the next one, or one that has just passed.
func resetTime(text string, now time.Time) (time.Time, bool) {
	m := resetPattern.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	hour, _ := strconv.Atoi(m[2])
	minute, _ := strconv.Atoi(m[3])
	if hour < 1 || hour > 12 || minute > 59 {
		return time.Time{}, false
	}
	hour %= 12
	if m[4] == "pm" {
		hour += 12
	}
	zone := now.Location()
	if m[5] != "" {
		if z, err := time.LoadLocation(m[5]); err == nil {
			zone = z
		}
	}
	local := now.In(zone)
	day := local.Day() - 1
	for {
		t := time.Date(local.Year(), local.Month(), day, hour, minute, 0, 0, zone)
		if t.After(now.Add(-justReset)) && (m[1] == "" || strings.HasPrefix(t.Weekday().String(), m[1])) {
			return t, true
		}
		day++
	}
}
