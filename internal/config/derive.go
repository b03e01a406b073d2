package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// derive sets options that follow from others, and checks options that depend on each other.
func (s *Settings) derive(layers []Layer) error {
	_, kindGiven := s.Sources["kind"]
	switch {
	case s.Every > 0 && !kindGiven:
		s.Kind = loop.Periodic
		s.Sources["kind"] = s.Sources["every"]
	case s.Every > 0 && s.Kind != loop.Periodic:
		return s.withSource(layers, newProblem("every", "only a periodic goal repeats; this one is of kind %s", s.Kind))
	case s.Every == 0 && s.Kind == loop.Periodic:
		return s.withSource(layers, &problem{"kind", "a periodic goal needs an interval", `--every 5m, or every = "5m" in pawl.toml`})
	}
	if s.Kind == loop.Answer && !s.Set("evidence") { // nothing can fail before an answer and pass after it
		s.Evidence.Default = gate.Reviewed
	}
	if strings.ContainsAny(s.Promise, "<>") {
		return s.withSource(layers, wantError("promise", "text without < and >", s.Promise))
	}
	if err := plan.CheckCommitForm(s.CommitMessage); err != nil {
		return s.withSource(layers, &problem{"commit_message", err.Error(), "such as \"JIRA-12 {title}\""})
	}
	for key, globs := range map[string][]string{"protect": s.Protect, "tests": s.Tests, "work": s.Work} {
		for _, glob := range globs {
			if !doublestar.ValidatePattern(glob) {
				return s.withSource(layers, wantError(key, "a glob such as docs/**", glob))
			}
		}
	}
	for _, name := range s.ConfineHosts {
		if err := confine.CheckHost(name); err != nil {
			return s.withSource(layers, &problem{"confine_hosts", err.Error(), "such as packages.example.org, *.example.com or localhost:5432"})
		}
	}
	// Hosts in a file apply once somebody chooses strict. A user who types hosts expects that
	// only these can be reached.
	if s.Sources["confine_hosts"].Layer == layerFlags && s.Confine != confine.Strict {
		return s.withSource(layers, &problem{
			"confine_hosts", fmt.Sprintf("it allows hosts for confine strict; here confine is %s, so every host is allowed", s.Confine),
			"add --confine strict, or leave out --confine-host",
		})
	}
	if s.AgentCommand == "" && s.Agent == "command" {
		return s.withSource(layers, &problem{"agent", "the agent named command needs agent_command", "--agent-command ./my-agent, or agent_command = \"./my-agent\" in pawl.toml"})
	}
	return nil
}

// withSource turns a problem into an error that names the layer and line that set the value.
func (s *Settings) withSource(layers []Layer, err error) error {
	var source Source
	if p, ok := errors.AsType[*problem](err); ok {
		source = s.Sources[p.path]
	}
	for _, l := range slices.Backward(layers) {
		if l.name == source.Layer && l.file == source.File {
			return l.report(err)
		}
	}
	return Layer{}.report(err)
}

// formatValue returns a value as a user would type it on the command line.
func formatValue(ptr any) string {
	switch v := ptr.(type) {
	case *string:
		return *v
	case *Tracker:
		return v.Command
	case *bool:
		return strconv.FormatBool(*v)
	case *int64:
		return formatLimit(*v, strconv.FormatInt(*v, 10))
	case *Iterations:
		if *v == Auto {
			return "auto"
		}
		return formatLimit(int64(*v), strconv.Itoa(int(*v)))
	case *time.Duration:
		return formatLimit(int64(*v), formatDuration(*v))
	case *USD:
		return formatLimit(int64(math.Ceil(float64(*v))), strconv.FormatFloat(float64(*v), 'f', 2, 64))
	case *Percent:
		return fmt.Sprintf("%d%%", *v)
	case *Rounds:
		return strconv.Itoa(int(*v))
	case *[]string:
		return strings.Join(*v, ", ")
	case *Approve:
		return v.String()
	case *TaskSet:
		return strings.Join(*v, ", ")
	case *GateEnv:
		return strings.Join(slices.Sorted(maps.Keys(*v)), ", ")
	case *map[string]string:
		return strings.Join(slices.Sorted(maps.Keys(*v)), ", ") // values may be secret
	case *Evidence:
		var out strings.Builder
		out.WriteString(string(v.Default))
		for _, task := range slices.Sorted(maps.Keys(v.Tasks)) {
			out.WriteString(fmt.Sprintf(", %s=%s", task, v.Tasks[task]))
		}
		return out.String()
	case *Worktree:
		return strconv.FormatBool(v.Use)
	case *Verify:
		if v.Tries == 0 {
			return fmt.Sprintf("tries auto, isolate %t", v.Isolate)
		}
		return fmt.Sprintf("tries %d, isolate %t", v.Tries, v.Isolate)
	case *Guard:
		return v.summary()
	case *Notify:
		return strings.Join(notice.Settings(*v).AllReceivers(), ", ")
	case *Telemetry:
		return v.Endpoint
	case *[]gate.Gate:
		var names []string
		for _, g := range *v {
			names = append(names, g.Name)
		}
		return strings.Join(names, ", ")
	}
	return reflect.ValueOf(ptr).Elem().String() // a string type with the values of allowedNames
}

// formatLimit returns the text of a limit, "none" if n is 0.
func formatLimit(n int64, text string) string {
	if n == 0 {
		return "none"
	}
	return text
}

// formatDuration formats a duration without trailing zero units: 8h, not 8h0m0s.
func formatDuration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"0s", "0m"} {
		if cut, ok := strings.CutSuffix(text, zero); ok && cut != "" && cut[len(cut)-1] > '9' {
			text = cut
		}
	}
	return text
}
