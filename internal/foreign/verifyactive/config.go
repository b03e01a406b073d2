package verifyactive

import (
	"errors"
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
// be read are no reason to stop a loop. But what may cost money is not begun on a
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
	s := settings{reader: reader{document: d}, config: &c}
	block := s.object(root, "verification")
	c.Tries = int(s.number(block, number{"inContextAttempts", 1, maxIterations, float64(c.Tries)}))
	is := &c.Isolation
	isolation := s.object(block, "isolation")
	is.Timeout = time.Duration(s.number(isolation, number{"timeout", 1, longestTimeout.Seconds(), is.Timeout.Seconds()})) * time.Second
	is.MaxCostUSD = s.amount(isolation, is.MaxCostUSD)
	is.Off = s.off(isolation, *is)
	return c
}

// settings reads what has a default instead of an error.
type settings struct {
	reader

	config *Config
}

// tell notes what was wrong with the last value, if anything was.
func (s *settings) tell() {
	if w, ok := errors.AsType[*wrong](s.err); ok {
		s.config.Notes = append(s.config.Notes, fmt.Sprintf("config.json:%d: %s: expected %s; the default holds", w.line, w.what, w.want))
	}
	s.err = nil
}

func (s *settings) object(parent span, name string) span {
	defer s.tell()
	return s.reader.object(parent, name)
}

func (s *settings) number(object span, n number) float64 {
	defer s.tell()
	return s.reader.number(object, n)
}

func (s *settings) text(object span, name string) string {
	defer s.tell()
	text := s.reader.text(object, name)
	if s.err != nil {
		return ""
	}
	return text
}

// amount is maxBudget, in dollars: 0 or more.
func (s *settings) amount(isolation span, fallback float64) float64 {
	defer s.tell()
	v, found := s.value(isolation, "maxBudget")
	if !found {
		return fallback
	}
	usd, ok := s.decimal(v)
	if !ok || usd < 0 {
		s.refuse(v, "maxBudget is "+s.shown(v), "an amount in dollars")
		return fallback
	}
	return usd
}

// off says why no try is to be isolated.
func (s *settings) off(isolation span, is Isolation) string {
	if v, found := s.value(isolation, "enabled"); found {
		switch text := string(s.document[v.at:v.end]); text {
		case "true":
		case "false":
			return "config.json turns it off"
		default:
			return fmt.Sprintf("config.json:%d: enabled is %s, neither true nor false", s.line(v.at), s.shown(v))
		}
	}
	if is.MaxCostUSD == 0 {
		return "config.json allows it no money (maxBudget 0)"
	}
	mode := s.text(isolation, "permissionMode")
	switch strings.ToLower(mode) {
	case "", "delegate", "auto", "acceptedits", "bypasspermissions":
		return ""
	}
	return fmt.Sprintf("config.json has permissionMode %q: nobody sits in an isolated session who could be asked", mode)
}
