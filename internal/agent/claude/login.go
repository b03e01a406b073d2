package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
)

// CheckLogin asks `claude auth status`, for at most 10 s. That reads settings and
// credentials, and runs neither hooks nor an apiKeyHelper (measured with 2.1.332).
// An older client would take the words for a prompt, so it is not asked; nor is one
// whose arguments name further settings.
func (a Agent) CheckLogin(ctx context.Context, o agent.Options) error {
	version, err := a.Version(ctx)
	if err != nil || !hasAuthStatus(version) || slices.ContainsFunc(o.Args, func(arg string) bool { return strings.HasPrefix(arg, "--settings") }) {
		return agent.ErrLoginUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	var out bytes.Buffer
	e := proc.Run(ctx, proc.Spec{Argv: []string{a.command(), "auth", "status", "--json"}, Dir: o.Dir, Stdout: &out, Env: environ(o.Env)})
	var status struct {
		LoggedIn *bool `json:"loggedIn"`
	}
	switch {
	case e.Err != nil || json.Unmarshal(out.Bytes(), &status) != nil || status.LoggedIn == nil:
		return agent.ErrLoginUnknown
	case !*status.LoggedIn:
		return failure.New(failure.Error, loginHint, "not logged in to %s", a.command())
	}
	return nil
}

// hasAuthStatus reports whether a version of the client has `claude auth status`:
// 2.1.47 and later are known to.
func hasAuthStatus(version string) bool {
	var v [3]int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil {
		return false
	}
	first := [3]int{2, 1, 47}
	return slices.Compare(v[:], first[:]) >= 0
}
