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

// derive derives what follows from other values and checks what no value can
// tell alone.
func (s *Settings) derive(layers []Layer) error {
	_, kindGiven := s.Sources["kind"]
	switch {
	case s.Every > 0 && !kindGiven:
		s.Kind = loop.Periodic
		s.Sources["kind"] = s.Sources["every"]
	case s.Every > 0 && s.Kind != loop.Periodic:
		return s.withSource(layers, wrong("every", "only a periodic goal comes again, this one is of kind %s", s.Kind))
	case s.Every == 0 && s.Kind == loop.Periodic:
		return s.withSource(layers, &problem{"kind", "a periodic goal needs an interval", `--every 5m, or every = "5m" in pawl.toml`})
	}
	if s.Kind == loop.Answer && !s.Set("evidence") { // nothing can fail before an answer and pass after it
		s.Evidence.Default = gate.Reviewed
	}
	if strings.ContainsAny(s.Promise, "<>") {
		return s.withSource(layers, want("promise", "text without < and >", s.Promise))
	}
	if err := plan.CheckCommitForm(s.CommitMessage); err != nil {
		return s.withSource(layers, &problem{"commit_message", err.Error(), "such as \"JIRA-12 {title}\""})
	}
	for key, globs := range map[string][]string{"protect": s.Protect, "tests": s.Tests, "work": s.Work} {
		for _, glob := range globs {
			if !doublestar.ValidatePattern(glob) {
				return s.withSource(layers, want(key, "a glob such as docs/**", glob))
			}
		}
	}
	for _, name := range s.ConfineHosts {
		if err := confine.CheckHost(name); err != nil {
			return s.withSource(layers, &problem{"confine_hosts", err.Error(), "such as packages.example.org, *.example.com or localhost:5432"})
		}
	}
	// In a file they wait for whoever asks for strict; typed, they are thought to hold.
	if s.Sources["confine_hosts"].Layer == layerFlags && s.Confine != confine.Strict {
		return s.withSource(layers, &problem{
			"confine_hosts", fmt.Sprintf("it names what may be reached where confine is strict, and here it is %s: any host may be", s.Confine),
			"add --confine strict, or leave --confine-host out",
		})
	}
	if s.AgentCommand == "" && s.Agent == "command" {
		return s.withSource(layers, &problem{"agent", "the agent named command needs agent_command", "--agent-command ./my-agent, or agent_command = \"./my-agent\" in pawl.toml"})
	}
	return nil
}

// withSource puts a problem to the layer that set the value.
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

// show prints a value as it would be written on the command line.
func show(ptr any) string {
	switch v := ptr.(type) {
	case *string:
		return *v
	case *Tracker:
		return v.Command
	case *bool:
		return strconv.FormatBool(*v)
	case *int64:
		return limit(*v, strconv.FormatInt(*v, 10))
	case *Iterations:
		if *v == Auto {
			return "auto"
		}
		return limit(int64(*v), strconv.Itoa(int(*v)))
	case *time.Duration:
		return limit(int64(*v), shortDuration(*v))
	case *USD:
		return limit(int64(math.Ceil(float64(*v))), strconv.FormatFloat(float64(*v), 'f', 2, 64))
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
		return v.text()
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
	return reflect.ValueOf(ptr).Elem().String() // the named texts of allowed
}

// limit shows a limit, of which 0 is none.
func limit(n int64, text string) string {
	if n == 0 {
		return "none"
	}
	return text
}

// shortDuration is 8h rather than 8h0m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"0s", "0m"} {
		if cut, ok := strings.CutSuffix(text, zero); ok && cut != "" && cut[len(cut)-1] > '9' {
			text = cut
		}
	}
	return text
}
