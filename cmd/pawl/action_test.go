package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// action is what GitHub's metadata syntax allows a composite action to say, as far as ours
// does.
type action struct {
	Name, Description string
	Inputs            map[string]struct{ Description, Default string }
	Outputs           map[string]struct{ Description, Value string }
	Runs              struct {
		Using string
		Steps []struct {
			ID, Shell, Run string
			Env            map[string]string
		}
	}
}

// TestActionPassesItsInputs reads action.yml: each input reaches the script, which uses
// each variable and writes each output.
func TestActionPassesItsInputs(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	data, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&a); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, ".github", "action.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 1 || !strings.Contains(a.Runs.Steps[0].Run, "/.github/action.sh") {
		t.Fatalf("it runs %+v", a.Runs)
	}
	passed := map[string]bool{}
	for name, value := range a.Runs.Steps[0].Env {
		if input := regexp.MustCompile(`inputs\.([a-z-]+)`).FindStringSubmatch(value); input != nil {
			passed[input[1]] = true
		}
		if !strings.Contains(string(script), "$"+name) && !strings.Contains(string(script), "${"+name) && name != "GH_TOKEN" {
			t.Errorf("%s is passed and not used", name)
		}
	}
	for name, input := range a.Inputs {
		if !passed[name] || input.Description == "" {
			t.Errorf("input %s is not passed, or not described", name)
		}
	}
	for name, output := range a.Outputs {
		if !strings.Contains(string(script), `echo "`+name+`=`) || output.Description == "" {
			t.Errorf("output %s is not written, or not described", name)
		}
	}
	for _, name := range []string{"ci.yml", "nightly.yml"} {
		data, err := os.ReadFile(filepath.Join(root, ".github", "workflows", name))
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct{ Jobs map[string]any }
		if err := yaml.Unmarshal(data, &workflow); err != nil || len(workflow.Jobs) == 0 {
			t.Errorf("%s: %d jobs, %v", name, len(workflow.Jobs), err)
		}
	}
}
