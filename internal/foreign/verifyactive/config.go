package verifyactive

import (
	"fmt"
	"strings"
	"time"
)

// Config holds the settings of claude-prompts for verify loops.
type Config struct {
	Tries     int       // failed checks in the session before an isolated attempt, 0 = not set
	Isolation Isolation // of the isolated attempts
	Notes     []string  // messages about settings that could not be read
}

// Isolation limits an attempt in a separate session. It does not include the permission mode of the
// settings: Pawl's guard checks each tool call, and a file cannot change that.
type Isolation struct {
	Off        string // why there are no isolated attempts, "" = there are
	MaxCostUSD float64
	Timeout    time.Duration
}

// Defaults returns the values without any settings.
func Defaults() Config {
	return Config{Isolation: Isolation{MaxCostUSD: 1, Timeout: 300 * time.Second}}
}

// ParseConfig reads the block verification of a config.json. Missing and invalid values get
// defaults, with Notes about the invalid ones: they are no reason to stop a loop. But an invalid
// "enabled" starts no isolated attempts, since these cost money.
func ParseConfig(data []byte) Config {
	c := Defaults()
	if len(data) > MaxSize {
		c.Notes = append(c.Notes, fmt.Sprintf("config.json has %d bytes, more than %d: the defaults hold", len(data), MaxSize))
		return c
	}
	d, root, err := openDocument(data)
	if err != nil {
		c.Notes = append(c.Notes, fmt.Sprintf("config.json:%v: the defaults hold", err))
		return c
	}
	r := reader{document: d, report: func(w *fileError) {
		c.Notes = append(c.Notes, fmt.Sprintf("config.json:%d: %s: expected %s; the default holds", w.line, w.what, w.want))
	}}
	block := r.object(root, "verification")
	c.Tries = int(r.number(block, number{"inContextAttempts", 1, maxIterations, float64(c.Tries)}))
	is := &c.Isolation
	isolation := r.object(block, "isolation")
	is.Timeout = time.Duration(r.number(isolation, number{"timeout", 1, maxTimeout.Seconds(), is.Timeout.Seconds()})) * time.Second
	is.MaxCostUSD = r.budget(isolation, is.MaxCostUSD)
	is.Off = r.isolationOff(isolation, *is)
	return c
}

// budget returns maxBudget in dollars, 0 or more.
func (r *reader) budget(isolation span, fallback float64) float64 {
	v, found := r.value(isolation, "maxBudget")
	if !found {
		return fallback
	}
	usd, ok := r.decimal(v)
	if !ok || usd < 0 {
		r.addError(v, "maxBudget is "+r.shown(v), "an amount in dollars")
		return fallback
	}
	return usd
}

// isolationOff returns why attempts are not isolated, or "".
func (r *reader) isolationOff(isolation span, is Isolation) string {
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
