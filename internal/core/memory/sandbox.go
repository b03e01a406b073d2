package memory

import (
	"slices"
	"strings"
)

// Sandbox describes what confines a loop's agent and gates. The zero value means no
// sandbox.
type Sandbox struct {
	Level      string   `json:"level"`                 // tree or strict
	Mechanism  string   `json:"mechanism,omitempty"`   // bubblewrap or landlock; "": not started yet
	AgentHosts []string `json:"agent_hosts,omitempty"` // strict: hosts that only agents may reach
	Hosts      []string `json:"hosts,omitempty"`       // strict: hosts that gates may reach too
}

// Equal reports whether two sandboxes are the same.
func (s Sandbox) Equal(other Sandbox) bool {
	return s.Level == other.Level && s.Mechanism == other.Mechanism && slices.Equal(s.AgentHosts, other.AgentHosts) && slices.Equal(s.Hosts, other.Hosts)
}

// Lines describes the sandbox, one line per fact, or returns nil without a sandbox.
// inSession means that the loop runs in a user's session, which is not confined.
func (s Sandbox) Lines(inSession bool) []string {
	if s.Level == "" {
		return nil
	}
	first := s.Level
	if s.Mechanism != "" {
		first += ", by " + s.Mechanism
	}
	if inSession {
		first += ", around gates and fresh sessions, not yours"
	} else {
		first += ", around agent and gates"
	}
	if s.Level != "strict" {
		return []string{first}
	}
	hostList := func(hosts []string) string {
		if len(hosts) == 0 {
			return "nothing"
		}
		return strings.Join(hosts, ", ")
	}
	if len(s.AgentHosts) == 0 {
		return []string{first, "all reach " + hostList(s.Hosts)}
	}
	return []string{first, "agents reach " + hostList(slices.Concat(s.AgentHosts, s.Hosts)), "gates reach " + hostList(s.Hosts)}
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
