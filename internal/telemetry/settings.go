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

// Collector is the one of the user's configuration.
type Collector struct {
	Endpoint string            // "": none
	Headers  map[string]string // by name, as env:NAME
}

// Settings are what the standard OTEL_ variables say, and below them the configuration.
type Settings struct {
	Traces, Metrics string // addresses; "": not sent
	TraceHeader     http.Header
	MetricHeader    http.Header
	Timeout         time.Duration // of a request
	Resource        []Attribute   // service.name first
}

const defaultTimeout = 10 * time.Second

// On reports whether anything is sent.
func (s Settings) On() bool { return s.Traces != "" || s.Metrics != "" }

// Hosts are those to which something is sent.
func (s Settings) Hosts() []string {
	var out []string
	for _, to := range []string{s.Traces, s.Metrics} {
		if u, err := url.Parse(to); err == nil && u.Host != "" && !slices.Contains(out, u.Host) {
			out = append(out, u.Host)
		}
	}
	return out
}

// variables are an environment, as NAME=value.
type variables []string

// value is that of the first of the variables that is set and not blank.
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

// ReadSettings reads the environment, as NAME=value. A signal for which it names no
// collector is sent to that of the configuration. Headers are sent only to where the same
// place names the address: a key is meant for one collector.
func ReadSettings(env []string, c Collector) (Settings, error) {
	value := variables(env).value
	s := Settings{Timeout: defaultTimeout}
	if strings.EqualFold(value("OTEL_SDK_DISABLED"), "true") {
		return s, nil
	}
	var err error
	if s.Traces, s.TraceHeader, err = signal(env, c, "TRACES"); err != nil {
		return s, err
	}
	if s.Metrics, s.MetricHeader, err = signal(env, c, "METRICS"); err != nil {
		return s, err
	}
	if ms, err := strconv.Atoi(value("OTEL_EXPORTER_OTLP_TIMEOUT")); err == nil && ms > 0 {
		s.Timeout = time.Duration(ms) * time.Millisecond
	}
	given, err := pairs(value("OTEL_RESOURCE_ATTRIBUTES"))
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

// signal returns where a signal is sent, and with which headers.
func signal(env variables, c Collector, name string) (to string, h http.Header, err error) {
	if strings.EqualFold(env.value("OTEL_"+name+"_EXPORTER"), "none") {
		return "", nil, nil
	}
	if to, err = address(env.value, name); err != nil {
		return "", nil, err
	}
	if to != "" {
		h, err = header(env.value("OTEL_EXPORTER_OTLP_"+name+"_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"))
		return to, h, err
	}
	if c.Endpoint == "" {
		return "", nil, nil
	}
	h, err = c.header(env)
	return withPath(c.Endpoint, name), h, err
}

// withPath is the address of a signal at a collector.
func withPath(endpoint, signal string) string {
	return strings.TrimSuffix(endpoint, "/") + "/v1/" + strings.ToLower(signal)
}

// header reads the variables that the configuration names.
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

// address is where the environment has a signal sent; "": it does not say. Errors do not
// repeat it: it may hold a secret.
func address(value func(...string) string, signal string) (string, error) {
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

// header reads "api-key=abc,other=a%20b".
func header(text string) (http.Header, error) {
	all, err := pairs(text)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	h := http.Header{}
	for _, p := range all {
		h.Set(p[0], p[1])
	}
	return h, nil
}

// pairs reads "name=value,name=value" with percent-encoded values.
func pairs(text string) ([][2]string, error) {
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
