package record

import (
	"slices"
	"strings"
)

// TypeWalled is a record that says by what a loop is confined: data: Wall. It is
// written by each owner that builds another wall than the last one did.
const TypeWalled = "walled"

// Wall is what confines a loop's agent and gates. The zero value is none.
type Wall struct {
	Level    string   `json:"level"`              // tree or strict
	By       string   `json:"by,omitempty"`       // bubblewrap or landlock; "" where it has not stood yet
	Endpoint []string `json:"endpoint,omitempty"` // of strict: hosts that agents alone may reach
	Hosts    []string `json:"hosts,omitempty"`    // of strict: those that gates may reach, too
}

// Same tells whether two walls are alike.
func (w Wall) Same(other Wall) bool {
	return w.Level == other.Level && w.By == other.By && slices.Equal(w.Endpoint, other.Endpoint) && slices.Equal(w.Hosts, other.Hosts)
}

// Words says what a wall is and what it stands around, a line each; none where
// there is no wall. A user's own session is behind none: attended is a loop that
// lives in one.
func (w Wall) Words(attended bool) []string {
	if w.Level == "" {
		return nil
	}
	first := w.Level
	if w.By != "" {
		first += ", by " + w.By
	}
	if attended {
		first += ", around gates and fresh sessions, not yours"
	} else {
		first += ", around agent and gates"
	}
	if w.Level != "strict" {
		return []string{first}
	}
	reach := func(hosts []string) string {
		if len(hosts) == 0 {
			return "nothing"
		}
		return strings.Join(hosts, ", ")
	}
	if len(w.Endpoint) == 0 {
		return []string{first, "all reach " + reach(w.Hosts)}
	}
	return []string{first, "agents reach " + reach(slices.Concat(w.Endpoint, w.Hosts)), "gates reach " + reach(w.Hosts)}
}

// Confined is what confines the loop: what its owner built, else what was asked
// for.
func (m Memory) Confined(asked Spec) Wall {
	if m.Wall.Level != "" || asked.Confine == "" || asked.Confine == "off" {
		return m.Wall
	}
	w := Wall{Level: asked.Confine}
	if w.Level == "strict" {
		w.Hosts = asked.ConfineHosts
	}
	return w
}

// refusedMost bounds the hosts that are remembered: an agent may try all there are.
const refusedMost = 50

// refuses remembers a host that the wall did not let through. Memories are copied:
// what another copy holds stays.
func (m *Memory) refuses(host string) {
	if m.NewHost(host) {
		m.Refused = append(slices.Clip(m.Refused), host)
	}
}

// NewHost tells whether it is worth a note that the wall refused a host: once for
// each.
func (m Memory) NewHost(host string) bool {
	return len(m.Refused) < refusedMost && !slices.Contains(m.Refused, host)
}
