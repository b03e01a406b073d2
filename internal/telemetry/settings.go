package telemetry

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Collector is the collector in the user's configuration.
type Collector struct {
	Endpoint string            // "" = none
	Headers  map[string]string // values are env:NAME
}

// Settings holds what the standard OTEL_ variables specify, with the configuration as fallback.
type Settings struct {
	Traces, Metrics string // addresses; "" = not sent
	TraceHeader     http.Header
	MetricHeader    http.Header
	Timeout         time.Duration // of each request
	Resource        []Attribute   // the first attribute is service.name
}

const defaultTimeout = 10 * time.Second

// Enabled reports whether anything is sent.
func (s Settings) Enabled() bool { return s.Traces != "" || s.Metrics != "" }

// Hosts returns the hosts that traces and metrics are sent to.
func (s Settings) Hosts() []string {
	var out []string
	for _, to := range []string{s.Traces, s.Metrics} {
		if u, err := url.Parse(to); err == nil && u.Host != "" && !slices.Contains(out, u.Host) {
			out = append(out, u.Host)
		}
	}
	return out
}

// variables is an environment, as NAME=value.
type variables []string

// value returns the value of the first of these variables that is set and not blank, or "".
func (vars variables) value(names ...string) string {
	for _, name := range names {
		for _, v := range vars {
			if text, ok := strings.CutPrefix(v, name+"="); ok && strings.TrimSpace(text) != "" {
				return strings.TrimSpace(text)
			}
		}
	}
	return ""
}

// ReadSettings reads the environment, as NAME=value. Signals without a collector in the environment
// are sent to the configured collector. The environment's headers are only sent to the
// environment's address, and the configuration's headers to the configured one: a key is for one
// collector.
func ReadSettings(env []string, c Collector) (Settings, error) {
	value := variables(env).value
	s := Settings{Timeout: defaultTimeout}
	if strings.EqualFold(value("OTEL_SDK_DISABLED"), "true") {
		return s, nil
	}
	var err error
	if s.Traces, s.TraceHeader, err = signalTarget(env, c, "TRACES"); err != nil {
		return s, err
	}
	if s.Metrics, s.MetricHeader, err = signalTarget(env, c, "METRICS"); err != nil {
		return s, err
	}
	if ms, err := strconv.Atoi(value("OTEL_EXPORTER_OTLP_TIMEOUT")); err == nil && ms > 0 {
		s.Timeout = time.Duration(ms) * time.Millisecond
	}
	given, err := parsePairs(value("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		return s, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	name := value("OTEL_SERVICE_NAME")
	for _, p := range given {
		if p[0] != "service.name" {
			s.Resource = append(s.Resource, Attribute{p[0], p[1]})
		} else if name == "" {
			name = p[1]
		}
	}
	if name == "" {
		name = "pawl"
	}
	s.Resource = append([]Attribute{{"service.name", name}}, s.Resource...)
	return s, nil
}

// signalTarget returns the address that a signal is sent to, and the headers.
func signalTarget(env variables, c Collector, name string) (to string, h http.Header, err error) {
	if strings.EqualFold(env.value("OTEL_"+name+"_EXPORTER"), "none") {
		return "", nil, nil
	}
	if to, err = endpoint(env.value, name); err != nil {
		return "", nil, err
	}
	if to != "" {
		h, err = parseHeader(env.value("OTEL_EXPORTER_OTLP_"+name+"_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"))
		return to, h, err
	}
	if c.Endpoint == "" {
		return "", nil, nil
	}
	h, err = c.header(env)
	return withPath(c.Endpoint, name), h, err
}

// withPath returns the address of a signal at a collector.
func withPath(endpoint, signal string) string {
	return strings.TrimSuffix(endpoint, "/") + "/v1/" + strings.ToLower(signal)
}

// header returns the configured headers with their values from the environment.
func (c Collector) header(env variables) (http.Header, error) {
	h := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		variable := strings.TrimPrefix(c.Headers[name], "env:")
		value := env.value(variable)
		if value == "" {
			return nil, fmt.Errorf("telemetry.headers.%s: the environment has no %s", name, variable)
		}
		h.Set(name, value)
	}
	return h, nil
}

// endpoint returns the address of a signal in the environment, or "". Errors do not contain it,
// because it may contain a secret.
func endpoint(value func(...string) string, signal string) (string, error) {
	name := "OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT"
	text := value(name)
	if text == "" {
		name = "OTEL_EXPORTER_OTLP_ENDPOINT"
		if text = value(name); text == "" {
			return "", nil
		}
		text = withPath(text, signal)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", fmt.Errorf("%s holds no address that begins with https:// or http://", name)
	}
	return text, nil
}

// parseHeader reads "api-key=abc,other=a%20b".
func parseHeader(text string) (http.Header, error) {
	all, err := parsePairs(text)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	h := http.Header{}
	for _, p := range all {
		h.Set(p[0], p[1])
	}
	return h, nil
}

// parsePairs reads "name=value,name=value" with percent-encoded values.
func parsePairs(text string) ([][2]string, error) {
	var out [][2]string
	n := 0
	for part := range strings.SplitSeq(text, ",") {
		n++
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return nil, fmt.Errorf("entry %d is not name=value", n)
		}
		out = append(out, [2]string{name, decoded})
	}
	return out, nil
}
