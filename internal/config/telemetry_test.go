package config

import (
	"maps"
	"strings"
	"testing"
)

// Only the user can set telemetry. Otherwise a repository could receive the data of the user's
// loops, and their keys.
func TestTelemetryIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	table := func(values map[string]any) map[string]any { return map[string]any{"telemetry": values} }
	user := Layer{name: layerUser, file: "config.toml", values: table(map[string]any{
		"endpoint": "https://collector.example:4318", "headers": map[string]any{"api-key": "env:KEY"},
	})}
	got, err := Resolve(user)
	if err != nil || got.Telemetry.Endpoint != "https://collector.example:4318" || !maps.Equal(got.Telemetry.Headers, map[string]string{"api-key": "env:KEY"}) {
		t.Errorf("%+v, %v", got.Telemetry, err)
	}
	for _, values := range []map[string]any{{"endpoint": "https://other.example"}, {"headers": map[string]any{"x": "env:PATH"}}, {}} {
		project := Layer{name: layerProject, file: ProjectFile, repo: true, values: table(values)}
		if _, err := Resolve(user, project); err == nil || err.Error() != "pawl.toml: telemetry: a repository's file cannot set where traces and metrics are sent" {
			t.Errorf("a repository says %v: %v", values, err)
		}
	}
}

func TestTelemetryHoldsNoSecret(t *testing.T) {
	t.Parallel()
	for endpoint, wants := range map[string]string{
		"collector.example:4318":            "begins with https://",
		"ftp://collector.example":           "begins with https://",
		"https://":                          "begins with https://",
		"https://me:hunter2@collector.test": "put it in headers",
		"https://collector.test/?k=hunter2": "put it in headers",
	} {
		_, err := Resolve(Layer{name: layerUser, values: map[string]any{"telemetry": map[string]any{"endpoint": endpoint}}})
		if err == nil || !strings.Contains(err.Error(), wants) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("endpoint %q: %v, want %q", endpoint, err, wants)
		}
	}
	for value, name := range map[string]string{"hunter2": "api-key", "env:": "api-key", "env:A B": "api-key", "env:KEY": "api key"} {
		headers := map[string]any{name: value}
		_, err := Resolve(Layer{name: layerUser, values: map[string]any{"telemetry": map[string]any{"headers": headers}}})
		if err == nil || !strings.Contains(err.Error(), "telemetry.headers") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("headers %v: %v", headers, err)
		}
	}
}
