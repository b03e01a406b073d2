package verifyactive

import (
	"fmt"
	"strings"
	"time"
)

// Config is what the settings of claude-prompts say about verify loops.
type Config struct {
	Tries     int       // failed checks in the session before one is isolated; 0 where nobody wrote a number
	Isolation Isolation // of those that follow
	Notes     []string  // what could not be read and what holds instead, for people
}

// Isolation bounds a try in a session of its own. The mode of permissions that the
// settings name is none of its bounds: where tools may run in it Pawl's guard
// judges each call, and a file has no say in that.
type Isolation struct {
	Off        string // why there is none, for people; "" if there is
	MaxCostUSD float64
	Timeout    time.Duration
}

// Defaults is what holds where there are no settings.
func Defaults() Config {
	return Config{Isolation: Isolation{MaxCostUSD: 1, Timeout: 300 * time.Second}}
}

// ParseConfig reads the block verification of a config.json. What is missing is
// the default, and so is what is broken, which Notes tell: settings that cannot
// be read are not a reason to stop a loop. But what may cost money is not begun on a
// value that says neither yes nor no.
func ParseConfig(data []byte) Config {
	c := Defaults()
	if len(data) > MaxSize {
		c.Notes = append(c.Notes, fmt.Sprintf("config.json has %d bytes, more than %d: the defaults hold", len(data), MaxSize))
		return c
	}
	d, root, err := open(data)
	if err != nil {
		c.Notes = append(c.Notes, fmt.Sprintf("config.json:%v: the defaults hold", err))
		return c
	}
	r := reader{document: d, told: func(w *wrong) {
		c.Notes = append(c.Notes, fmt.Sprintf("config.json:%d: %s: expected %s; the default holds", w.line, w.what, w.want))
	}}
	block := r.object(root, "verification")
	c.Tries = int(r.number(block, number{"inContextAttempts", 1, maxIterations, float64(c.Tries)}))
	is := &c.Isolation
	isolation := r.object(block, "isolation")
	is.Timeout = time.Duration(r.number(isolation, number{"timeout", 1, longestTimeout.Seconds(), is.Timeout.Seconds()})) * time.Second
	is.MaxCostUSD = r.amount(isolation, is.MaxCostUSD)
	is.Off = r.off(isolation, *is)
	return c
}

// amount is maxBudget, in dollars: 0 or more.
func (r *reader) amount(isolation span, fallback float64) float64 {
	v, found := r.value(isolation, "maxBudget")
	if !found {
		return fallback
	}
	usd, ok := r.decimal(v)
	if !ok || usd < 0 {
		r.refuse(v, "maxBudget is "+r.shown(v), "an amount in dollars")
		return fallback
	}
	return usd
}

// off says why no try is to be isolated.
func (r *reader) off(isolation span, is Isolation) string {
	if v, found := r.value(isolation, "enabled"); found {
		switch text := string(r.document[v.at:v.end]); text {
		case "true":
		case "false":
			return "config.json turns it off"
		default:
			return fmt.Sprintf("config.json:%d: enabled is %s, neither true nor false", r.line(v.at), r.shown(v))
		}
	}
	if is.MaxCostUSD == 0 {
		return "config.json allows it no money (maxBudget 0)"
	}
	mode := r.text(isolation, "permissionMode")
	switch strings.ToLower(mode) {
	case "", "delegate", "auto", "acceptedits", "bypasspermissions":
		return ""
	}
	return fmt.Sprintf("config.json has permissionMode %q: nobody is there in an isolated session who could be asked", mode)
}
