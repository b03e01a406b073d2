package telemetry

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Settings are what the standard OTEL_ variables say.
type Settings struct {
	Traces, Metrics string // addresses; "": not sent
	TraceHeader     http.Header
	MetricHeader    http.Header
	Timeout         time.Duration // of a request
	Resource        []Attribute   // service.name first
}

const defaultTimeout = 10 * time.Second

// Enabled reports whether an environment, as NAME=value, names a collector.
func Enabled(vars []string) bool {
	s, err := ReadSettings(vars)
	return err != nil || s.Traces != "" || s.Metrics != ""
}

// ReadSettings reads the environment, as NAME=value. Nothing is sent unless it names a
// collector.
func ReadSettings(vars []string) (Settings, error) {
	value := func(names ...string) string {
		for _, name := range names {
			for _, v := range vars {
				if text, ok := strings.CutPrefix(v, name+"="); ok && strings.TrimSpace(text) != "" {
					return strings.TrimSpace(text)
				}
			}
		}
		return ""
	}
	s := Settings{Timeout: defaultTimeout}
	if strings.EqualFold(value("OTEL_SDK_DISABLED"), "true") {
		return s, nil
	}
	var err error
	if s.Traces, err = address(value, "TRACES"); err != nil {
		return s, err
	}
	if s.Metrics, err = address(value, "METRICS"); err != nil {
		return s, err
	}
	if s.TraceHeader, err = header(value("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")); err != nil {
		return s, err
	}
	if s.MetricHeader, err = header(value("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")); err != nil {
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

// address is where a signal is sent. Errors do not repeat it: it may hold a secret.
func address(value func(...string) string, signal string) (string, error) {
	if strings.EqualFold(value("OTEL_"+signal+"_EXPORTER"), "none") {
		return "", nil
	}
	name := "OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT"
	text := value(name)
	if text == "" {
		name = "OTEL_EXPORTER_OTLP_ENDPOINT"
		if text = value(name); text == "" {
			return "", nil
		}
		text = strings.TrimSuffix(text, "/") + "/v1/" + strings.ToLower(signal)
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
