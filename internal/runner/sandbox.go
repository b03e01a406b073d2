package runner

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// recordSandbox journals the loop's sandbox if it differs from the last owner's.
func (r *Runner) recordSandbox() error {
	if r.mem.Sandbox.Equal(r.Sandbox) {
		return nil
	}
	r.mem.Sandbox = r.Sandbox
	return r.appendRecord(memory.TypeSandbox, r.Sandbox)
}

// maxHostChars bounds a host that is noted, in characters.
const maxHostChars = 100

// recordRefusedHosts journals and displays hosts that the sandbox has refused, each once per
// loop. Secrets are removed, since a host name may contain one.
func (r *Runner) recordRefusedHosts() error {
	if r.RefusedHosts == nil {
		return nil
	}
	for _, host := range r.RefusedHosts() {
		if r.Redact != nil {
			host = r.Redact.String(host)
		}
		if host = plan.OneLine(host, maxHostChars); !r.mem.IsNewHost(host) {
			continue
		}
		n := memory.Note{Level: loop.Info, Host: host, Text: fmt.Sprintf("the sandbox blocked %s (allow it with confine_hosts)", host)}
		if err := r.appendRecord(memory.TypeNote, n); err != nil {
			return err
		}
		r.mem.ApplyNote(n)
		r.Observer.Note(n)
	}
	return nil
}
