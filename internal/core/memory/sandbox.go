package memory

import (
	"slices"
	"strings"
)

// Sandbox describes what confines a loop's agent and gates. The zero value means no
// sandbox.
type Sandbox struct {
	Level     string   `json:"level"`               // tree or strict
	Mechanism string   `json:"mechanism,omitempty"` // bubblewrap or landlock; "": not started yet
	Endpoint  []string `json:"endpoint,omitempty"`  // strict: hosts that only agents may reach
	Hosts     []string `json:"hosts,omitempty"`     // strict: hosts that gates may reach too
}

// Equal reports whether two sandboxes are the same.
func (w Sandbox) Equal(other Sandbox) bool {
	return w.Level == other.Level && w.Mechanism == other.Mechanism && slices.Equal(w.Endpoint, other.Endpoint) && slices.Equal(w.Hosts, other.Hosts)
}

// Lines describes the sandbox, one line per fact; none without a sandbox. A user's own
// session is not confined: attended means that the loop is in one.
func (w Sandbox) Lines(attended bool) []string {
	if w.Level == "" {
		return nil
	}
	first := w.Level
	if w.Mechanism != "" {
		first += ", by " + w.Mechanism
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

// maxRefusedHosts bounds the hosts that are recorded, since an agent may try any number.
const maxRefusedHosts = 50

// addRefusedHost records a host that the sandbox refused. It changes no slice of a copied
// Memory.
func (m *Memory) addRefusedHost(host string) {
	if m.IsNewHost(host) {
		m.RefusedHosts = append(slices.Clip(m.RefusedHosts), host)
	}
}

// IsNewHost reports whether to note that the sandbox refused a host: each host once.
func (m Memory) IsNewHost(host string) bool {
	return len(m.RefusedHosts) < maxRefusedHosts && !slices.Contains(m.RefusedHosts, host)
}
