package frozen

import (
	"bytes"
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// A project's file can lead what old tests import elsewhere than it led when they
// were written: to another library that compares. Such a change counts as one of
// old tests. A change of other dependencies does not, nor a name that is new, since
// no old test imports it.

// Leads is what tells whether old tests may be led elsewhere by the second version
// of such a file, nil for other files. What cannot be read leads nowhere: a gate
// will say so.
func Leads(file string) func(was, now []byte) bool {
	switch base := path.Base(file); {
	case base == "go.mod":
		return modulesLed
	case base == "go.work":
		return func(was, now []byte) bool {
			return !reflect.DeepEqual(directives(was, "use", "replace"), directives(now, "use", "replace"))
		}
	case base == "package.json":
		return importsLed
	case base == "jsconfig.json", strings.HasPrefix(base, "tsconfig") && path.Ext(base) == ".json":
		return func(was, now []byte) bool { return compilerPaths(was) != compilerPaths(now) }
	case base == "Cargo.toml":
		return func(was, now []byte) bool { return !reflect.DeepEqual(patches(was), patches(now)) }
	}
	return nil
}

// modulesLed: a module that was required, or replaced, is replaced by another.
func modulesLed(was, now []byte) bool {
	before, after := directives(was, "replace"), directives(now, "replace")
	for _, d := range slices.Concat(directives(was, "require"), before) {
		module, _, _ := strings.Cut(d, " ")
		if !slices.Equal(of(module, before), of(module, after)) {
			return true
		}
	}
	return false
}

// of are the directives that begin with a module.
func of(module string, directives []string) []string {
	var out []string
	for _, d := range directives {
		if strings.HasPrefix(d, module+" ") {
			out = append(out, d)
		}
	}
	return out
}

// directives are what stands behind some words in a go.mod or go.work, a line each
// or in a block (https://go.dev/ref/mod#go-mod-file-grammar), sorted.
func directives(content []byte, verbs ...string) []string {
	var out []string
	block := ""
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(strings.ReplaceAll(line, "(", " ( "), "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == ")":
			block = ""
		case block != "":
			words = append([]string{block}, words...)
			fallthrough
		default:
			if len(words) > 1 && words[1] == "(" {
				block = words[0]
			} else if slices.Contains(verbs, words[0]) {
				out = append(out, strings.Join(words[1:], " "))
			}
		}
	}
	slices.Sort(out)
	return out
}

// importsLed: a name of Node's "imports" stands for another file. New names are not
// imported yet.
func importsLed(was, now []byte) bool {
	of := func(content []byte) map[string]any {
		var p struct{ Imports map[string]any }
		if json.Unmarshal(content, &p) != nil {
			return nil
		}
		return p.Imports
	}
	after := of(now)
	for name, to := range of(was) {
		if !reflect.DeepEqual(to, after[name]) {
			return true
		}
	}
	return false
}

// compilerPaths is where TypeScript looks for what is imported: any name there may
// stand for a package.
func compilerPaths(content []byte) string {
	plain, err := hujson.Standardize(bytes.Clone(content))
	if err != nil {
		return ""
	}
	var c struct {
		CompilerOptions struct {
			BaseURL string          `json:"baseUrl"`
			Paths   json.RawMessage `json:"paths"`
		} `json:"compilerOptions"`
	}
	if json.Unmarshal(plain, &c) != nil {
		return ""
	}
	var paths bytes.Buffer
	_ = json.Compact(&paths, c.CompilerOptions.Paths) // absent: stays empty
	return strings.TrimSpace(c.CompilerOptions.BaseURL + " " + paths.String())
}

// Demands is what tells whether a compiler that only checks demands something else of
// the code by the second version of such a file, nil for other files.
func Demands(file string) func(was, now []byte) bool {
	if base := path.Base(file); strings.HasPrefix(base, "tsconfig") && path.Ext(base) == ".json" {
		return func(was, now []byte) bool { return !reflect.DeepEqual(compilerDemands(was), compilerDemands(now)) }
	}
	return nil
}

// compilerDemands are what TypeScript looks at, and by which rules beside its types'.
func compilerDemands(content []byte) map[string]any {
	plain, err := hujson.Standardize(bytes.Clone(content))
	if err != nil {
		return nil
	}
	var all map[string]any
	if json.Unmarshal(plain, &all) != nil {
		return nil
	}
	options, _ := all["compilerOptions"].(map[string]any)
	demands := map[string]any{"include": all["include"], "exclude": all["exclude"], "files": all["files"], "extends": all["extends"]}
	for name, value := range options {
		if slices.ContainsFunc(strings.Fields("strict no exact skip check allowUn useUnknown"), func(begins string) bool { return strings.HasPrefix(name, begins) }) {
			demands[name] = value
		}
	}
	return demands
}

func patches(content []byte) any {
	var c struct{ Patch, Replace map[string]any }
	if toml.Unmarshal(content, &c) != nil {
		c.Patch, c.Replace = nil, nil
	}
	return c
}
