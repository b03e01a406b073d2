package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Telemetry holds the receiver of the traces and metrics of loops. A repository's file cannot set
// it; see checkUserOnly.
type Telemetry struct {
	Endpoint string            `json:"endpoint,omitempty" doc:"address of an OpenTelemetry collector that takes OTLP over HTTP; /v1/traces and /v1/metrics are added to it"`
	Headers  map[string]string `json:"headers,omitempty" doc:"headers of each request, such as an API key: a table of names and env:NAME"`
}

func (p *Telemetry) decode(at string, v any, lines map[string]int) error {
	if err := decodeTable(p, at, v, lines); err != nil {
		return err
	}
	if p.Endpoint != "" {
		u, err := url.Parse(p.Endpoint)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return newProblem(join(at, "endpoint"), "want an address that begins with https:// or http://")
		}
		if u.User != nil || u.RawQuery != "" {
			return newProblem(join(at, "endpoint"), "a password or key in the address would appear in logs; put it in headers, as env:NAME")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
		if !headerName.MatchString(name) {
			return newProblem(join(at, "headers"), "%q is not the name of a header", name)
		}
		variable, ok := strings.CutPrefix(p.Headers[name], "env:")
		if !ok || variable == "" || strings.ContainsAny(variable, "= ") {
			return &problem{
				path: join(join(at, "headers"), name), message: "its value may be a secret; want the variable that holds it, as env:NAME",
				hint: fmt.Sprintf("such as %s = \"env:COLLECTOR_KEY\"", name),
			}
		}
	}
	return nil
}

var headerName = regex.New(`^[A-Za-z0-9_-]+$`)
